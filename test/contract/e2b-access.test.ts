import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { apiKey, errorName, sdkFor, startLocalE2b } from '../support/local-e2b.ts';
import { shared } from '../support/shared.ts';

let sandbox: Awaited<ReturnType<ReturnType<typeof e2b>['sdk']['create']>>;

const e2b = shared(startLocalE2b);

beforeEach(async () => {
  sandbox = await e2b().sdk.create();
});

const tokenOf = async (sandboxId: string): Promise<string> => {
  const record: unknown = JSON.parse(await readFile(join(e2b().dataDir, sandboxId, 'sandbox.json'), 'utf8'));
  return (record as { accessToken: string }).accessToken;
};

/** `fetch` forbids some headers that an attacker may set. */
const status = (path: string, headers: Record<string, string>, method = 'GET'): Promise<number | undefined> =>
  new Promise((resolve, reject) => {
    request(`${e2b().url}${path}`, { method, headers }, (answer) => {
      answer.resume();
      resolve(answer.statusCode);
    })
      .on('error', reject)
      .end();
  });

const DATA_PATHS = ['/files?path=/etc/passwd', '/process.Process/List', '/filesystem.Filesystem/Stat'];

describe('who may use the local E2B', () => {
  test('refuses a wrong or missing API key on every call of the control plane', async () => {
    const stranger = sdkFor(e2b().url, 'wrong');
    expect(await errorName(stranger.create())).toBe('AuthenticationError');
    expect(await errorName(stranger.connect(sandbox.sandboxId))).toBe('AuthenticationError');
    expect(await errorName(stranger.getInfo(sandbox.sandboxId))).toBe('AuthenticationError');
    expect(await errorName(stranger.kill(sandbox.sandboxId))).toBe('AuthenticationError');
    expect(await errorName(stranger.list().nextItems())).toBe('AuthenticationError');
    expect(await status(`/sandboxes/${sandbox.sandboxId}`, {})).toBe(401);
    expect(await status('/anything/else', {})).toBe(401);
    expect((await e2b().sdk.getInfo(sandbox.sandboxId)).state).toBe('running');
  });

  test.each(DATA_PATHS)("wants the sandbox's own token on %s", async (path) => {
    const method = path.startsWith('/p') || path.startsWith('/filesystem') ? 'POST' : 'GET';
    const id = { 'e2b-sandbox-id': sandbox.sandboxId };
    const other = await e2b().sdk.create();
    expect(await status(path, id, method)).toBe(401);
    expect(await status(path, { ...id, 'x-api-key': apiKey }, method)).toBe(401);
    expect(await status(path, { ...id, 'x-access-token': '' }, method)).toBe(401);
    expect(await status(path, { ...id, 'x-access-token': 'x'.repeat(64) }, method)).toBe(401);
    const foreign = await tokenOf(other.sandboxId);
    expect(await status(path, { ...id, 'x-access-token': foreign }, method)).toBe(401);
    expect(await status(path, { 'x-access-token': foreign }, method)).toBe(502);
  });

  test.each(['evil.example', 'localhost.evil.example', '127.0.0.1.evil.example', '192.168.0.1'])(
    'refuses the host %j (DNS rebinding)',
    async (host) => {
      const headers = { host, 'x-api-key': apiKey };
      expect(await status('/v2/sandboxes', headers)).not.toBe(200);
      const token = await tokenOf(sandbox.sandboxId);
      const data = { host, 'e2b-sandbox-id': sandbox.sandboxId, 'x-access-token': token };
      expect(await status('/health', data)).not.toBe(204);
    },
  );

  test.each(['localhost', '127.0.0.1:1234', '[::1]:80'])('answers the host %s', async (host) => {
    expect(await status('/v2/sandboxes', { host, 'x-api-key': apiKey })).toBe(200);
  });

  test('refuses requests of web pages', async () => {
    expect(await status('/v2/sandboxes', { origin: 'http://localhost', 'x-api-key': apiKey })).toBe(403);
    expect(await status('/v2/sandboxes', { origin: 'null', 'x-api-key': apiKey }, 'OPTIONS')).toBe(403);
  });

  test('does not tell the token to whoever only lists', async () => {
    const answer = await fetch(`${e2b().url}/v2/sandboxes`, { headers: { 'x-api-key': apiKey } });
    expect(await answer.text()).not.toContain(await tokenOf(sandbox.sandboxId));
  });

  test.each(['{', '[]', '{"timeout":-1}', '{"timeout":"x"}', '{"metadata":{"a":1}}'])(
    'refuses the body %s',
    async (body) => {
      const answer = await fetch(`${e2b().url}/v2/sandboxes`, {
        method: 'POST',
        body,
        headers: { 'x-api-key': apiKey },
      });
      expect([answer.status, ((await answer.json()) as { code: number }).code]).toEqual([400, 400]);
    },
  );
});

describe('files of a local sandbox', () => {
  test('are written and read, many at once and one as a stream', async () => {
    const names = ['/tmp/a', '/home/user/deep/er/b', 'relative', '/tmp/odd "name" ü'];
    await sandbox.files.writeFiles(names.map((path) => ({ path, data: `content of ${path}` })));
    for (const path of names) expect(await sandbox.files.read(path)).toBe(`content of ${path}`);
    expect(existsSync(e2b().rootfs(sandbox.sandboxId, 'home/user/relative'))).toBe(true);
    const bytes = new Uint8Array(5_000_000).map((_, i) => i % 251);
    const stream = new ReadableStream<Uint8Array>({
      start: (controller) => {
        for (let at = 0; at < bytes.length; at += 70_000) controller.enqueue(bytes.slice(at, at + 70_000));
        controller.close();
      },
    });
    await sandbox.files.write('/tmp/large', stream);
    expect(Buffer.from(await sandbox.files.read('/tmp/large', { format: 'bytes' })).equals(bytes)).toBe(true);
    await sandbox.files.write('/tmp/zipped', 'plain', { gzip: true });
    expect(await sandbox.files.read('/tmp/zipped')).toBe('plain');
    await sandbox.files.write('/tmp/empty', '');
    expect(await sandbox.files.read('/tmp/empty')).toBe('');
  });

  test('are described, listed, made and removed', async () => {
    expect(await sandbox.files.makeDir('/tmp/x/y')).toBe(true);
    expect(await sandbox.files.makeDir('/tmp/x/y')).toBe(false);
    await sandbox.files.write('/tmp/x/y/f', '123');
    await sandbox.commands.run('ln -s y/f link', { cwd: '/tmp/x' });
    expect(await sandbox.files.getInfo('/tmp/x/y/f')).toMatchObject({ name: 'f', type: 'file', size: 3 });
    expect(await sandbox.files.getInfo('/tmp/x/link')).toMatchObject({
      // As E2B tells: the type of what the link leads to, and where that is.
      type: 'file',
      symlinkTarget: '/tmp/x/y/f',
    });
    const deep = await sandbox.files.list('/tmp/x', { depth: 2 });
    expect(deep.map(({ path }) => path)).toEqual(['/tmp/x/link', '/tmp/x/y', '/tmp/x/y/f']);
    expect(await sandbox.files.exists('/tmp/x/none')).toBe(false);
    await sandbox.files.remove('/tmp/x/link');
    expect(await sandbox.files.exists('/tmp/x/y/f')).toBe(true);
    await sandbox.files.remove('/tmp/x');
    expect(await sandbox.files.exists('/tmp/x')).toBe(false);
  });

  test('that are missing, or are directories, are errors', async () => {
    expect(await errorName(sandbox.files.read('/tmp/none'))).toBe('FileNotFoundError');
    expect(await errorName(sandbox.files.read('/tmp'))).toBe('InvalidArgumentError');
    await sandbox.files.makeDir('/tmp/directory');
    expect(await errorName(sandbox.files.write('/tmp/directory', 'x'))).toBe('InvalidArgumentError');
    expect(await errorName(sandbox.files.list('/tmp/none'))).toBe('FileNotFoundError');
  });

  test('cannot be reached outside by .. or by a symlink', async () => {
    // Nobody else has a file of that name, whatever server is asked.
    const name = `walkback-secret-${randomUUID()}`;
    const secret = join(e2b().dataDir, name);
    await writeFile(secret, 'secret');
    await mkdir(join(e2b().dataDir, 'outside'), { recursive: true });
    const home = e2b().rootfs(sandbox.sandboxId, 'home/user');
    await symlink(secret, join(home, 'to-file'));
    await symlink(e2b().dataDir, join(home, 'to-directory'));
    await symlink(`../../../../${name}`, join(home, 'relative'));
    await symlink(join(e2b().dataDir, 'outside', 'new'), join(home, 'dangling'));
    await symlink('loop', join(home, 'loop'));
    for (const path of [`/../../${name}`, `/home/user/../../../../${name}`, `x/../../../../../${name}`])
      expect(await errorName(sandbox.files.read(path))).toBe('FileNotFoundError');
    await sandbox.files.write(`/../../${name}`, 'only inside');
    expect(await readFile(e2b().rootfs(sandbox.sandboxId, name), 'utf8')).toBe('only inside');
    for (const path of ['to-file', `to-directory/${name}`, 'relative', 'loop']) {
      expect(await errorName(sandbox.files.read(path))).not.toBe('no error');
      expect(await errorName(sandbox.files.write(path, 'overwritten'))).not.toBe('no error');
    }
    for (const path of ['dangling', 'to-directory/outside/new']) {
      expect(await errorName(sandbox.files.write(path, 'x'))).not.toBe('no error');
      expect(await errorName(sandbox.files.makeDir(path))).not.toBe('no error');
    }
    expect(await errorName(sandbox.files.remove(`to-directory/${name}`))).not.toBe('no error');
    expect(await errorName(sandbox.files.list('to-directory'))).not.toBe('no error');
    expect(await readFile(secret, 'utf8')).toBe('secret');
    expect(existsSync(join(e2b().dataDir, 'outside', 'new'))).toBe(false);
    await sandbox.files.remove('to-directory');
    expect(existsSync(secret)).toBe(true);
  });
});

import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { inspect } from 'node:util';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { createSandboxes } from '../../adapters/e2b/sandboxes.ts';
import type { ExecutionAdapter, Sandboxes } from '../../core/checkpoint/ports/sandbox.ts';
import { WalkbackError } from '../../core/shared/errors.ts';
import { type Fault, type FaultProxy, startFaultProxy } from '../support/fault-proxy.ts';
import { apiKey, isAlive, startLocalE2b } from '../support/local-e2b.ts';

let e2b: Awaited<ReturnType<typeof startLocalE2b>>;
let proxy: FaultProxy;
let sandboxes: Sandboxes;
let sandbox: ExecutionAdapter;

/** Another process: nothing is cached in it. */
const anotherProcess = (key = apiKey, url = proxy.url): Sandboxes =>
  createSandboxes({ apiKey: key, apiUrl: url, sandboxUrl: url });

const START = { path: '/process.Process/Start' };
const INFO = { method: 'GET', path: '/sandboxes/' };
const CONNECT = { path: '/connect' };
const CREATE = { method: 'POST', path: /^\/v2\/sandboxes$/ };

beforeAll(async () => {
  e2b = await startLocalE2b();
  proxy = await startFaultProxy({ target: e2b.url });
});

afterAll(async () => {
  await proxy.close();
  await e2b[Symbol.asyncDispose]();
});

beforeEach(async () => {
  sandboxes = anotherProcess();
  sandbox = await sandboxes.create({ tags: { session: 's' }, timeoutMs: 900_000 });
});

afterEach(async () => {
  proxy.setPlan([]);
  await sandboxes.kill(sandbox.sandboxId);
});

const plan = (match: Fault['match'], action: Fault['action'], at = 1): void =>
  proxy.setPlan([{ match, at, action }]);

const failureOf = async (promise: Promise<unknown>): Promise<WalkbackError> => {
  const error = await promise.then(
    () => new Error('no error'),
    (caught: unknown) => caught,
  );
  if (!(error instanceof WalkbackError)) throw new Error('expected a WalkbackError', { cause: error });
  return error;
};

const inside = (path: string): string => e2b.rootfs(sandbox.sandboxId, path);
const until = (check: () => unknown): Promise<unknown> =>
  vi.waitFor(check, { timeout: 60_000, interval: 20 });
const run = (command: string, more: object = {}) => sandbox.run(command, { timeoutMs: 240_000, ...more });

describe('running a command', () => {
  test('answers its output and exit code, whatever that is', async () => {
    expect(await run('echo out; echo err >&2')).toEqual({ exitCode: 0, stdout: 'out\n', stderr: 'err\n' });
    expect(await run('echo out; exit 3')).toEqual({ exitCode: 3, stdout: 'out\n', stderr: '' });
    expect((await run('kill -9 $$')).exitCode).toBe(-1);
    expect((await run('pwd', { cwd: '/tmp' })).stdout).toBe(`${inside('tmp')}\n`);
  });

  test('is not touched by a hostile profile, and leaves no trace of how', async () => {
    const hostile = 'echo hostile; git() { echo hostile; }; export -f git; cd /; exit 3\n';
    for (const name of ['.bash_profile', '.bash_login', '.profile', '.bashrc'])
      await writeFile(inside(`home/user/${name}`), hostile);
    const result = await run(
      '[[ -o posix ]] && echo posix; echo "${POSIXLY_CORRECT-unset}"; type -t git; cat <(pwd)',
    );
    expect(result).toEqual({ exitCode: 0, stdout: `unset\nfile\n${inside('home/user')}\n`, stderr: '' });
  });

  test('gives whole lines as they come, also when a character is cut in two', async () => {
    const lines: string[] = [];
    const script = String.raw`printf 'one\ntw'; printf '\303' ; while [ ! -e go ]; do sleep 0.02; done; printf '\274\n\nend'`;
    const running = run(script, { onLine: (line: string) => lines.push(line) });
    await until(() => expect(lines).toEqual(['one']));
    await writeFile(inside('home/user/go'), '');
    await running;
    expect(lines).toEqual(['one', 'twü', '', 'end']);
  });

  test('gives the lines of stderr beside those of stdout', async () => {
    const lines: string[] = [];
    const errorLines: string[] = [];
    const hears = {
      onLine: (line: string) => lines.push(line),
      onErrorLine: (line: string) => errorLines.push(line),
    };
    await run('echo a; echo one >&2; printf tw >&2; echo b; echo o >&2; printf end >&2; exit 4', hears);
    expect({ lines, errorLines }).toEqual({ lines: ['a', 'b'], errorLines: ['one', 'two', 'end'] });
  });

  test('gives the lines before a failure too', async () => {
    const lines: string[] = [];
    const onLine = (line: string) => lines.push(line);
    expect((await run('echo a; printf b; exit 9', { onLine })).exitCode).toBe(9);
    expect(lines).toEqual(['a', 'b']);
  });

  test('rejects with the very error that onLine threw', async () => {
    const mine = new RangeError('not like this');
    const onLine = () => {
      throw mine;
    };
    await expect(run('echo a; exec sleep 300', { onLine, timeoutMs: 3000 })).rejects.toBe(mine);
    await expect(run('printf a', { onLine })).rejects.toBe(mine);
    await expect(run('printf a; exit 2', { onLine })).rejects.toBe(mine);
  });

  test('stops listening to a command that never stops talking', async () => {
    const error = await failureOf(run('exec yes'));
    expect(error).toMatchObject({
      name: 'SandboxUnavailable',
      retryable: false,
      details: { outcome: 'unknown' },
    });
  });

  test('says when it took too long, and that it may have happened', async () => {
    const error = await failureOf(run('touch begun; exec sleep 300', { timeoutMs: 700 }));
    expect(error).toMatchObject({
      name: 'SandboxUnavailable',
      retryable: true,
      details: { outcome: 'unknown' },
    });
  });

  test.each([
    ['no timeout', 'pwd', { timeoutMs: 0 }],
    ['a command too long for one argument', `: ${'x'.repeat(130_000)}`, {}],
  ])('refuses %s', async (_, command, options) => {
    expect(await failureOf(run(command, options))).toMatchObject({ name: 'InvalidInput', retryable: false });
  });

  test('says that the projects root is gone', async () => {
    expect(await failureOf(run('pwd', { cwd: '/none' }))).toMatchObject({
      name: 'ProjectsRootNotFound',
      retryable: false,
    });
  });

  test('extends the life of the sandbox when its own timeout is longer', async () => {
    await run('true', { timeoutMs: 1_800_000 });
    const info = await e2b.sdk.getInfo(sandbox.sandboxId);
    expect(info.endAt.getTime()).toBeGreaterThan(Date.now() + 1_800_000);
  });

  test('takes one request when the sandbox is known', async () => {
    const before = proxy.seen.length;
    await run('true');
    await sandboxes.open(sandbox.sandboxId);
    await run('true');
    expect(proxy.seen.slice(before).map(({ path }) => path)).toEqual([START.path, START.path]);
  });
});

describe('files of a sandbox', () => {
  test('are written at once, whatever their names and content', async () => {
    const bytes = randomBytes(100_000);
    const files = [
      { path: '/tmp/new/directory/a', data: 'text' },
      { path: '/tmp/b', data: bytes },
      { path: '/tmp/empty', data: '' },
    ];
    const before = proxy.seen.length;
    await sandbox.writeFiles(files);
    expect(proxy.seen.length - before).toBe(1);
    expect(await readFile(inside('tmp/new/directory/a'), 'utf8')).toBe('text');
    expect((await readFile(inside('tmp/b'))).equals(bytes)).toBe(true);
    expect(await sandbox.readFile('/tmp/empty', 0)).toEqual(Buffer.alloc(0));
    await sandbox.writeFiles([{ path: '/tmp/odd "q" \\ ü', data: 'odd' }]);
    expect(Buffer.from(await sandbox.readFile('/tmp/odd "q" \\ ü', 10)).toString()).toBe('odd');
    await sandbox.writeFiles([]);
  });

  test('stream both ways', async () => {
    const block = randomBytes(1024 * 1024);
    const hash = createHash('sha256');
    let left = 12;
    const source = new ReadableStream<Uint8Array>({
      pull: (controller) => {
        if (left === 0) return controller.close();
        left -= 1;
        hash.update(block);
        return controller.enqueue(new Uint8Array(block));
      },
    });
    await sandbox.writeStream('/tmp/large', source);
    const received = createHash('sha256');
    for await (const chunk of await sandbox.readStream('/tmp/large')) received.update(chunk);
    expect(received.digest('hex')).toBe(hash.digest('hex'));
  });

  test('are read up to a limit', async () => {
    await sandbox.writeFiles([{ path: '/tmp/f', data: '12345' }]);
    expect(Buffer.from(await sandbox.readFile('/tmp/f', 5)).toString()).toBe('12345');
    expect(await failureOf(sandbox.readFile('/tmp/f', 4))).toMatchObject({ name: 'BundleTooLarge' });
  });

  test('that are missing mean that the sandbox changed', async () => {
    expect(await failureOf(sandbox.readFile('/tmp/none', 5))).toMatchObject({ name: 'SandboxChanged' });
    expect(await failureOf(sandbox.readStream('/tmp/none'))).toMatchObject({ name: 'SandboxChanged' });
  });

  test('whose answer breaks off are never taken for complete', async () => {
    await sandbox.writeFiles([{ path: '/tmp/f', data: randomBytes(3_000_000) }]);
    const match = { method: 'GET', path: '/files' };
    plan(match, { kind: 'cut-answer', afterBytes: 1000 });
    expect(await failureOf(sandbox.readFile('/tmp/f', 5_000_000))).toMatchObject({
      name: 'SandboxUnavailable',
    });
    plan(match, { kind: 'cut-answer', afterBytes: 1000 });
    const stream = await sandbox.readStream('/tmp/f');
    const drain = async () => {
      for await (const chunk of stream) expect(chunk.length).toBeGreaterThan(0);
    };
    expect(await failureOf(drain())).toMatchObject({ name: 'SandboxUnavailable', retryable: true });
  });
});

describe('a sandbox that is not there', () => {
  test('is not opened when it is paused, and stays so', async () => {
    await e2b.sdk.pause(sandbox.sandboxId);
    const error = await failureOf(anotherProcess().open(sandbox.sandboxId));
    expect(error).toMatchObject({ name: 'SandboxNotFound', retryable: false, details: { state: 'paused' } });
    expect((await e2b.sdk.getInfo(sandbox.sandboxId)).state).toBe('paused');
  });

  test.each(['killed', 'paused'])('is noticed by whoever knew it, when it was %s', async (how) => {
    if (how === 'killed') await e2b.sdk.kill(sandbox.sandboxId);
    else await e2b.sdk.pause(sandbox.sandboxId);
    const before = proxy.count(CONNECT);
    expect(await failureOf(run('true'))).toMatchObject({ name: 'SandboxNotFound' });
    expect(await failureOf(sandbox.readFile('/tmp/x', 1))).toMatchObject({ name: 'SandboxNotFound' });
    expect(await failureOf(sandbox.writeFiles([{ path: '/tmp/x', data: '' }]))).toMatchObject({
      name: 'SandboxNotFound',
    });
    expect(await failureOf(sandboxes.open(sandbox.sandboxId))).toMatchObject({ name: 'SandboxNotFound' });
    expect(proxy.count(CONNECT)).toBe(before);
  });

  test('is noticed when it dies under a command', async () => {
    const running = failureOf(run('echo $$ > pid; exec sleep 300'));
    await until(async () => expect(await readFile(inside('home/user/pid'), 'utf8')).toMatch(/\d\n/));
    const pid = Number(await readFile(inside('home/user/pid'), 'utf8'));
    await e2b.sdk.kill(sandbox.sandboxId);
    expect(await running).toMatchObject({ name: 'SandboxNotFound', details: { outcome: 'unknown' } });
    expect(isAlive(pid)).toBe(false);
  });

  test.each(['file', 'file/below', 'loop', 'none'])(
    'a projects root that is no directory (%s) is named, and the command is not repeated',
    async (root) => {
      await run('echo x > file; ln -sfn loop loop', { cwd: '/home/user' });
      const command = `: secret words; ${'echo a line of the command\n'.repeat(2_000)}`;
      const error = await failureOf(run(command, { cwd: `/home/user/${root}` }));
      expect(error).toMatchObject({ name: 'ProjectsRootNotFound', retryable: false });
      expect(error.message.length).toBeLessThan(300);
      expect(inspect(error, { depth: 10 })).not.toMatch(/secret|a line of the command/);
    },
  );

  test('a file that is where a directory should be is named, whether it is read below or written below', async () => {
    await run('echo x > file', { cwd: '/home/user' });
    const changed = { name: 'SandboxChanged', message: expect.stringContaining('/home/user/file') };
    const path = '/home/user/file/below';
    expect(await failureOf(sandbox.readFile(path, 100))).toMatchObject(changed);
    expect(await failureOf(sandbox.writeFiles([{ path, data: 'x' }]))).toMatchObject(changed);
  });

  test('has no id that could mean something else', async () => {
    for (const id of ['', `../${randomUUID()}`, 'a/b', 'a?b', 'x'.repeat(129)]) {
      expect(await failureOf(sandboxes.open(id))).toMatchObject({ name: 'InvalidInput' });
      expect(await failureOf(sandboxes.kill(id))).toMatchObject({ name: 'InvalidInput' });
    }
    expect(await failureOf(sandboxes.open('unknown'))).toMatchObject({ name: 'SandboxNotFound' });
    expect(await sandboxes.kill('unknown')).toBe(false);
  });
});

describe('creating and finding sandboxes', () => {
  test('finds the running ones with all the tags, oldest first', async () => {
    const tags = { session: 'find me', request: 'r=1&x/ü' };
    const first = await sandboxes.create({ tags, timeoutMs: 60_000, template: 'my-template' });
    const second = await sandboxes.create({ tags, timeoutMs: 60_000 });
    const paused = await sandboxes.create({ tags, timeoutMs: 60_000 });
    await sandboxes.create({ tags: { session: 'find me' }, timeoutMs: 60_000 });
    await e2b.sdk.pause(paused.sandboxId);
    const found = await sandboxes.find(tags);
    const ids = [first.sandboxId, second.sandboxId];
    expect(found.map(({ sandboxId }) => sandboxId).sort()).toEqual([...ids].sort());
    expect(found.map(({ startedAt }) => startedAt)).toEqual(found.map(({ startedAt }) => startedAt).sort());
    expect(found[0]?.tags).toEqual(tags);
    expect((await e2b.sdk.getInfo(first.sandboxId)).templateId).toBe('my-template');
    expect(await sandboxes.find({ session: 'nobody' })).toEqual([]);
    expect([await sandboxes.kill(first.sandboxId), await sandboxes.kill(first.sandboxId)]).toEqual([
      true,
      false,
    ]);
  });

  test('finds the one whose answer was lost', async () => {
    plan(CREATE, { kind: 'lose-answer' });
    const error = await failureOf(sandboxes.create({ tags: { request: 'lost' }, timeoutMs: 60_000 }));
    expect(error).toMatchObject({
      name: 'SandboxUnavailable',
      retryable: true,
      details: { outcome: 'unknown' },
    });
    const [orphan] = await sandboxes.find({ request: 'lost' });
    const adopted = await sandboxes.open(orphan?.sandboxId ?? '');
    expect((await adopted.run('echo mine', { timeoutMs: 5000 })).stdout).toBe('mine\n');
  });

  test.each([
    [429, 'Throttled', true, 'nothing-happened'],
    [503, 'SandboxUnavailable', true, 'nothing-happened'],
    [500, 'SandboxUnavailable', true, 'unknown'],
    [403, 'ConfigurationError', false, 'nothing-happened'],
    [400, 'InvalidInput', false, 'nothing-happened'],
  ])('explains a %i of the control plane', async (status, name, retryable, outcome) => {
    plan(CREATE, { kind: 'status', status, body: JSON.stringify({ code: status, message: 'no' }) });
    const error = await failureOf(sandboxes.create({ tags: {}, timeoutMs: 60_000 }));
    expect(error).toMatchObject({ name, retryable, details: { outcome } });
  });

  test('wants a key that is accepted, and somebody who answers', async () => {
    expect(await failureOf(anotherProcess('wrong').open(sandbox.sandboxId))).toMatchObject({
      name: 'ConfigurationError',
      retryable: false,
    });
    const nobody = anotherProcess(apiKey, 'http://127.0.0.1:9');
    expect(await failureOf(nobody.find({ a: 'b' }))).toMatchObject({
      name: 'SandboxUnavailable',
      retryable: true,
    });
  });
});

describe('a connection that fails', () => {
  const ONCE = 'echo x >> log';
  const times = async (): Promise<number> =>
    (await readFile(inside('home/user/log'), 'utf8').catch(() => '')).length / 2;

  test.each([401, 502])('is made again once when the sandbox refused the call with %i', async (status) => {
    const before = proxy.count(INFO);
    plan(START, { kind: 'status', status, body: JSON.stringify({ code: status, message: 'no' }) });
    expect((await run(ONCE)).exitCode).toBe(0);
    expect(await times()).toBe(1);
    expect(proxy.count(INFO) - before).toBe(1);
  });

  test('is made again only once', async () => {
    proxy.setPlan([{ match: START, action: { kind: 'status', status: 401, body: '{"message":"no"}' } }]);
    const before = proxy.count(START);
    expect(await failureOf(run(ONCE))).toMatchObject({ name: 'ConfigurationError' });
    expect(proxy.count(START) - before).toBe(2);
  });

  test.each<Fault['action']>([
    { kind: 'drop' },
    { kind: 'lose-answer' },
    { kind: 'cut-answer', afterBytes: 50 },
    { kind: 'status', status: 500 },
  ])('is never made again by itself when the command may have run: %j', async (action) => {
    plan(START, action);
    const before = proxy.count(START);
    const error = await failureOf(run(ONCE));
    expect(error).toMatchObject({
      name: 'SandboxUnavailable',
      retryable: true,
      details: { outcome: 'unknown' },
    });
    expect(proxy.count(START) - before).toBe(1);
    expect(await times()).toBeLessThanOrEqual(1);
    expect((await run(ONCE)).exitCode).toBe(0);
  });
});

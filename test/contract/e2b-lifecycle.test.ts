import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rm, rmdir, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createLocalSandboxes } from '../../cli/target/local-sandboxes.ts';
import { holdsMount } from '../../local/e2b/paths.ts';
import { apiKey, errorName, isAlive, startLocalE2b } from '../support/local-e2b.ts';

let e2b: Awaited<ReturnType<typeof startLocalE2b>>;

beforeEach(async () => {
  e2b = await startLocalE2b();
});

afterEach(async () => {
  await e2b[Symbol.asyncDispose]();
});

const until = (check: () => unknown): Promise<unknown> =>
  vi.waitFor(check, { timeout: 60_000, interval: 20 });

describe('the life of a local sandbox, through the real SDK', () => {
  test('is created, described, found by its tags and killed', async () => {
    const metadata = { session: 's1', odd: 'a b&c=d/ü %20' };
    const sandbox = await e2b.sdk.create('my-template', { metadata, timeoutMs: 90_000 });
    const info = await e2b.sdk.getInfo(sandbox.sandboxId);
    expect(info).toMatchObject({
      sandboxId: sandbox.sandboxId,
      templateId: 'my-template',
      metadata,
      state: 'running',
    });
    expect(info.endAt.getTime() - info.startedAt.getTime()).toBe(90_000);
    await e2b.sdk.create({ metadata: { session: 's2' } });
    const found = await e2b.sdk.list({ query: { metadata } }).nextItems();
    expect(found.map(({ sandboxId }) => sandboxId)).toEqual([sandbox.sandboxId]);
    expect(await sandbox.isRunning()).toBe(true);
    expect(await e2b.sdk.kill(sandbox.sandboxId)).toBe(true);
    expect(await e2b.sdk.kill(sandbox.sandboxId)).toBe(false);
    expect(await sandbox.isRunning()).toBe(false);
    expect(await readdir(e2b.dataDir)).not.toContain(sandbox.sandboxId);
  });

  test('lists page by page, in order of start, by state', async () => {
    const ids: string[] = [];
    for (let i = 0; i < 5; i += 1) ids.push((await e2b.sdk.create({ metadata: { all: 'yes' } })).sandboxId);
    await e2b.sdk.pause(ids[2] ?? '');
    const all = async (query: object, order: 'asc' | 'desc') => {
      const seen: string[] = [];
      const pages = e2b.sdk.list({ query: { metadata: { all: 'yes' }, ...query }, limit: 2, order });
      while (pages.hasNext) seen.push(...(await pages.nextItems()).map(({ sandboxId }) => sandboxId));
      return seen;
    };
    const byStart = await all({}, 'asc');
    expect([...byStart].sort()).toEqual([...ids].sort());
    expect(await all({}, 'desc')).toEqual(byStart.toReversed());
    expect(await all({ state: ['paused'] }, 'asc')).toEqual([ids[2]]);
    expect(await all({ state: ['running'] }, 'asc')).toEqual(byStart.filter((id) => id !== ids[2]));
  });

  test('is not found when it never was', async () => {
    const unknown = 'wb000000000000000000';
    expect(await errorName(e2b.sdk.connect(unknown))).toBe('SandboxNotFoundError');
    expect(await errorName(e2b.sdk.getInfo(unknown))).toBe('SandboxNotFoundError');
    expect(await errorName(e2b.sdk.setTimeout(unknown, 1000))).toBe('SandboxNotFoundError');
    expect(await errorName(e2b.sdk.pause(unknown))).toBe('SandboxNotFoundError');
    const own = await mkdtemp(join(tmpdir(), 'walkback-beside-'));
    expect(await e2b.sdk.kill(`../${basename(own)}`)).toBe(false);
    await rmdir(own);
  });

  test('lives at least as long as a connect asks, and exactly as long as setTimeout says', async () => {
    const beganMs = Date.now();
    const { sandboxId } = await e2b.sdk.create({ timeoutMs: 100_000 });
    const endMs = async () => (await e2b.sdk.getInfo(sandboxId)).endAt.getTime();
    await e2b.sdk.connect(sandboxId, { timeoutMs: 10_000 });
    expect(await endMs()).toBeGreaterThanOrEqual(beganMs + 100_000);
    await e2b.sdk.connect(sandboxId, { timeoutMs: 500_000 });
    expect(await endMs()).toBeGreaterThanOrEqual(beganMs + 500_000);
    await e2b.sdk.setTimeout(sandboxId, 20_000);
    expect(await endMs()).toBeLessThanOrEqual(Date.now() + 20_000);
    expect(await errorName(e2b.sdk.setTimeout(sandboxId, 25 * 3_600_000))).toBe('SandboxError');
  });

  test('is killed with everything in it when its time is over', async () => {
    const sandbox = await e2b.sdk.create();
    const handle = await sandbox.commands.run('exec sleep 300', { background: true, timeoutMs: 0 });
    expect(isAlive(handle.pid)).toBe(true);
    await e2b.sdk.setTimeout(sandbox.sandboxId, 500);
    await until(async () =>
      expect(await errorName(e2b.sdk.getInfo(sandbox.sandboxId))).toBe('SandboxNotFoundError'),
    );
    await until(() => expect(existsSync(e2b.rootfs(sandbox.sandboxId))).toBe(false));
    expect(isAlive(handle.pid)).toBe(false);
    expect(await errorName(handle.wait())).toBe('TimeoutError');
  });

  test('is paused instead when it was created so, and resumed by connect', async () => {
    const sandbox = await e2b.sdk.create({ timeoutMs: 1000, lifecycle: { onTimeout: 'pause' } });
    await until(async () => expect((await e2b.sdk.getInfo(sandbox.sandboxId)).state).toBe('paused'));
    expect(await errorName(sandbox.commands.run('true'))).toBe('SandboxNotFoundError');
    const again = await e2b.sdk.connect(sandbox.sandboxId, { timeoutMs: 60_000 });
    expect((await again.commands.run('echo back')).stdout).toBe('back\n');
  });

  test('stands still while paused, and goes on after', async () => {
    const sandbox = await e2b.sdk.create();
    const loop = 'i=0; while :; do i=$((i+1)); echo $i > count; done';
    const handle = await sandbox.commands.run(loop, { background: true, timeoutMs: 0 });
    const counter = e2b.rootfs(sandbox.sandboxId, 'home/user/count');
    await until(() => expect(existsSync(counter)).toBe(true));
    expect(await e2b.sdk.pause(sandbox.sandboxId)).toBe(true);
    expect(await e2b.sdk.pause(sandbox.sandboxId)).toBe(false);
    expect(await sandbox.isRunning()).toBe(false);
    expect(await errorName(handle.wait())).toBe('TimeoutError');
    // A signal that was sent is acted on when the process runs next.
    await until(async () => {
      const state = await readFile(`/proc/${handle.pid}/stat`, 'utf8');
      expect(state.split(') ').at(-1)?.[0]).toBe('T');
    });
    await e2b.sdk.connect(sandbox.sandboxId);
    const before = await readFile(counter, 'utf8');
    await until(async () => expect(await readFile(counter, 'utf8')).not.toBe(before));
  });

  test('survives a restart of the server with its files and tags', async () => {
    const sandbox = await e2b.sdk.create({ metadata: { a: 'b' }, timeoutMs: 600_000 });
    await sandbox.files.write('/home/user/kept', 'still here');
    const before = await e2b.sdk.getInfo(sandbox.sandboxId);
    await e2b.restart();
    expect(await e2b.sdk.getInfo(sandbox.sandboxId)).toEqual(before);
    const again = await e2b.sdk.connect(sandbox.sandboxId);
    expect((await again.commands.run('cat kept')).stdout).toBe('still here');
  });

  test('is gone after a restart when its time ended meanwhile, as is what a crash left behind', async () => {
    const { sandboxId } = await e2b.sdk.create({ timeoutMs: 600_000 });
    const file = join(e2b.dataDir, sandboxId, 'sandbox.json');
    await e2b.restart(async () => {
      const record = JSON.parse(await readFile(file, 'utf8')) as object;
      await writeFile(file, JSON.stringify({ ...record, endAtMs: Date.now() - 1 }));
      await mkdir(join(e2b.dataDir, 'wb111111111111111111', 'rootfs'), { recursive: true });
      await mkdir(join(e2b.dataDir, '.deleted-wb2'), { recursive: true });
      await mkdir(join(e2b.dataDir, 'not-ours'));
    });
    await until(async () => expect(await readdir(e2b.dataDir)).toEqual(['not-ours']));
    expect(await errorName(e2b.sdk.getInfo(sandboxId))).toBe('SandboxNotFoundError');
  });

  test('ends all processes when the server closes', async () => {
    const sandbox = await e2b.sdk.create();
    const script = 'sleep 300 >/dev/null 2>&1 & echo $!; setsid sleep 300 >/dev/null 2>&1 & echo $!';
    const pids = (await sandbox.commands.run(script)).stdout.trim().split('\n').map(Number);
    const handle = await sandbox.commands.run('sleep 300', { background: true, timeoutMs: 0 });
    const all = [...pids, handle.pid];
    expect(all.map(isAlive)).toEqual([true, true, true]);
    await e2b.close();
    expect(all.map(isAlive)).toEqual([false, false, false]);
    expect(await errorName(handle.wait())).not.toBe('no error');
  });
});

describe('a sandbox with a mounted directory', () => {
  let own: string;

  beforeEach(async () => {
    own = await mkdtemp(join(tmpdir(), 'walkback-own-'));
    await mkdir(join(own, 'repo'));
    await writeFile(join(own, 'repo', 'file'), 'mine');
    await symlink('repo/file', join(own, 'link'));
  });

  afterEach(async () => {
    await rm(own, { recursive: true, force: true });
  });

  const describeLocal = async (sandboxId: string, key = apiKey) =>
    fetch(`${e2b.url}/local/sandboxes/${sandboxId}`, { headers: { 'x-api-key': key } });

  test('shows that directory, in commands and files, for as long as nobody ends it', async () => {
    const sandbox = await e2b.sdk.create({ volumeMounts: { '/tmp/work/project': own } });
    expect((await e2b.sdk.getInfo(sandbox.sandboxId)).endAt.getUTCFullYear()).toBe(9999);
    const result = await sandbox.commands.run('pwd; cat repo/file; echo new > repo/new', {
      cwd: '/tmp/work/project',
    });
    expect(result.stdout).toBe(`${own}\nmine`);
    expect(await sandbox.files.read('/tmp/work/project/repo/new')).toBe('new\n');
    expect(await sandbox.files.read('/tmp/work/project/link')).toBe('mine');
    await sandbox.files.write('/tmp/work/project/deep/down', 'x');
    expect(await readFile(join(own, 'deep', 'down'), 'utf8')).toBe('x');
    expect((await sandbox.files.list('/tmp/work')).map(({ name, type }) => [name, type])).toEqual([
      ['project', 'dir'],
    ]);
    expect(await (await describeLocal(sandbox.sandboxId)).json()).toEqual({
      rootfs: e2b.rootfs(sandbox.sandboxId),
      mounts: { '/tmp/work/project': own },
    });
    expect((await describeLocal(sandbox.sandboxId, 'wrong')).status).toBe(401);
    expect((await describeLocal('unknown')).status).toBe(404);
  });

  test('is found by a command that was connected before the cloud started again elsewhere', async () => {
    const at = async () => ({ apiKey, apiUrl: e2b.url, sandboxUrl: e2b.url });
    const sandboxes = createLocalSandboxes(at);
    const sandboxId = await sandboxes.createOver(own, {});
    const before = e2b.url;
    await e2b.restart();
    expect(e2b.url).not.toBe(before);
    expect((await sandboxes.places(sandboxId)).mounts).toEqual({ [own]: own });
    expect(await sandboxes.kill(sandboxId)).toBe(true);
  });

  test('can be at the same path inside and outside', async () => {
    const sandbox = await e2b.sdk.create({ volumeMounts: { [own]: own } });
    expect((await sandbox.commands.run('cat repo/file', { cwd: own })).stdout).toBe('mine');
  });

  test.each(['kill', 'timeout', 'restart and timeout'])('leaves it untouched on %s', async (how) => {
    const sandbox = await e2b.sdk.create({ volumeMounts: { '/home/user': own, '/work/b': own } });
    await sandbox.files.write('/tmp/inside', 'x');
    if (how === 'kill') await sandbox.kill();
    if (how === 'restart and timeout') await e2b.restart();
    if (how !== 'kill') await e2b.sdk.setTimeout(sandbox.sandboxId, 0);
    await until(() => expect(existsSync(join(e2b.dataDir, sandbox.sandboxId))).toBe(false));
    await until(async () => expect(await readdir(e2b.dataDir)).toEqual([]));
    expect((await readdir(own)).sort()).toEqual(['link', 'repo']);
    expect(await readFile(join(own, 'repo', 'file'), 'utf8')).toBe('mine');
  });

  test('in the files of another one keeps that one past its time, also over a restart, and through a link', async () => {
    const holder = await e2b.sdk.create({ timeoutMs: 600_000 });
    const inside = join(e2b.rootfs(holder.sandboxId), 'home', 'user', 'deep');
    await mkdir(inside);
    await symlink(inside, join(own, 'there'));
    const mounted = await e2b.sdk.create({ volumeMounts: { '/tmp/work/here': join(own, 'there') } });
    const info = await e2b.sdk.getInfo(holder.sandboxId);
    expect(info.metadata).toEqual({ 'walkback-mounted-by': mounted.sandboxId });
    const isKept = async () => {
      const { endAt } = await e2b.sdk.getInfo(holder.sandboxId);
      expect(endAt.getTime()).toBeGreaterThan(Date.now() + 60_000);
    };
    await e2b.sdk.setTimeout(holder.sandboxId, 0);
    await until(isKept);
    const file = join(e2b.dataDir, holder.sandboxId, 'sandbox.json');
    const over = async () => {
      const record = JSON.parse(await readFile(file, 'utf8')) as object;
      await writeFile(file, JSON.stringify({ ...record, endAtMs: Date.now() - 1 }));
    };
    await e2b.restart(over);
    await until(isKept);
    const again = await e2b.sdk.connect(mounted.sandboxId);
    await again.files.write('/tmp/work/here/file', 'kept');
    expect(await readFile(join(inside, 'file'), 'utf8')).toBe('kept');
    await e2b.sdk.setTimeout(holder.sandboxId, 5000);
    await again.kill();
    await isKept();
    await e2b.sdk.setTimeout(holder.sandboxId, 0);
    await until(() => expect(existsSync(inside)).toBe(false));
  });

  test('does not let the files API remove the mount or what holds it', async () => {
    // A name that only this test knows: what a server removes that refuses nothing is nobody else's.
    const place = `/walkback-${randomUUID()}`;
    const mounts = [{ path: `${place}/project`, directory: own }];
    for (const path of ['/', place, `${place}/project`, `${place}/x/../project/`])
      expect(holdsMount(path, { rootfs: own, mounts })).toBe(true);
    const sandbox = await e2b.sdk.create({ volumeMounts: { [`${place}/project`]: own } });
    for (const path of [place, `${place}/project`, `${place}/x/../project/`])
      expect(await errorName(sandbox.files.remove(path))).not.toBe('no error');
    await sandbox.files.remove(`${place}/project/repo/file`);
    expect(await readdir(join(own, 'repo'))).toEqual([]);
  });

  test.each([
    ['no such directory', { '/a': '/no/such/directory' }],
    ['a file', { '/a': '/etc/hostname' }],
    ['a relative volume', { '/a': 'volume-name' }],
    ['the root', { '/': tmpdir() }],
    ['a relative place', { 'a/b': tmpdir() }],
    ['a place with ..', { '/a/../b': tmpdir() }],
    ['what is not empty', { '/home': tmpdir() }],
    ['one inside another', { '/a': tmpdir(), '/a/b': tmpdir() }],
  ])('refuses to mount %s', async (_, volumeMounts) => {
    expect(await errorName(e2b.sdk.create({ volumeMounts }))).toBe('SandboxError');
    expect(await readdir(e2b.dataDir)).toEqual([]);
  });

  test('keeps its records to its owner', async () => {
    const { sandboxId } = await e2b.sdk.create();
    expect((await stat(join(e2b.dataDir, sandboxId, 'sandbox.json'))).mode & 0o777).toBe(0o600);
  });
});

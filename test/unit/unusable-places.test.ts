/** Places that cannot hold a data directory are refused, at once and by name; a full disk is told as the reason. */
import { spawnSync } from 'node:child_process';
import { mkdtempDisposable, readdir, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { checkMachine } from '../../cli/doctor/machine.ts';
import { describeFailure } from '../../cli/failure.ts';
import { ensureDaemon } from '../../cli/target/daemon.ts';
import { tellingFullDisk } from '../../cli/target/full-disk.ts';
import { makeDirectory } from '../../kit/make-directory.ts';
import { lockDataDir } from '../../local/data-dir.ts';

const temporary = () => mkdtempDisposable(join(tmpdir(), 'walkback-place-'));

/** In a process of its own: what hangs holds its thread, and no timer of the test would fire. */
const makeIn = (path: string) =>
  spawnSync(
    process.execPath,
    [
      '--input-type=module',
      '-e',
      `const { makeDirectory } = await import(${JSON.stringify(new URL('../../kit/make-directory.ts', import.meta.url).href)});
       await makeDirectory(process.argv[1]).catch(({ code }) => console.log(code));`,
      path,
    ],
    { encoding: 'utf8', timeout: 30_000, killSignal: 'SIGKILL' },
  );

test.each(['/proc/x', '/proc/self/x/y'])('%s is told to be none, and soon', (path) => {
  const { stdout, signal, stderr } = makeIn(path);
  expect({ stdout, signal }, stderr).toEqual({ stdout: 'ENOENT\n', signal: null });
});

test('a directory is made with those above it, by several at once, with its rights', async () => {
  await using place = await temporary();
  const path = join(place.path, 'a/b/c');
  await Promise.all(Array.from({ length: 8 }, () => makeDirectory(path, 0o700)));
  await makeDirectory(path);
  expect((await stat(path)).mode & 0o777).toBe(0o700);
  await makeDirectory(place.path);
});

test.each(['file', 'file/below', '/dev/null', '/proc/x'])(
  'the data directory cannot be at %s',
  async (name) => {
    await using place = await temporary();
    await writeFile(join(place.path, 'file'), '');
    const path = name.startsWith('/') ? name : join(place.path, name);
    const refused = { name: 'ConfigurationError', message: expect.stringContaining(path) };
    await expect(lockDataDir(path, '1.2.3')).rejects.toMatchObject(refused);
    const starting = ensureDaemon(path, { signal: new AbortController().signal });
    const failure = await starting.then(() => undefined, describeFailure);
    expect(failure).toMatchObject({ ...refused, exitCode: 7, hint: expect.stringContaining('--data') });
  },
);

test('a place without any room is no full disk', async () => {
  const error = new Error('it cannot be made');
  await expect(tellingFullDisk('/proc/x', () => Promise.reject(error))).rejects.toBe(error);
});

test.skipIf(process.getuid?.() !== 0)('a full disk is told as the reason of whatever failed', async () => {
  await using place = await temporary();
  const disk = join(place.path, 'disk');
  await makeDirectory(disk);
  const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'none', disk]);
  // Not everybody who is root may mount.
  if (mounted.status !== 0) return;
  try {
    await writeFile(join(disk, 'big'), Buffer.alloc(70_000)).catch(() => undefined);
    const data = join(disk, 'data');
    const failed = async (error: unknown) => {
      try {
        return await tellingFullDisk(data, async () => {
          throw error;
        });
      } catch (told) {
        return describeFailure(told);
      }
    };
    const fault = await failed(
      Object.assign(new Error('DynamoDB did not answer.'), { name: 'StorageUnavailable' }),
    );
    expect(fault).toMatchObject({ name: 'StorageUnavailable', hint: expect.stringContaining('is full') });
    const refusal = await failed(Object.assign(new Error('No.'), { name: 'StaleEpoch' }));
    expect(refusal?.hint).not.toContain('is full');
    const locked = await tellingFullDisk(data, () => lockDataDir(data, '1.2.3')).then(
      () => undefined,
      describeFailure,
    );
    expect(locked).toMatchObject({ name: 'ConfigurationError', hint: expect.stringContaining('is full') });
    const signal = new AbortController().signal;
    const daemon = await ensureDaemon(data, { signal }).then(() => undefined, describeFailure);
    expect(daemon).toMatchObject({ name: 'ConfigurationError', message: expect.stringContaining('ENOSPC') });
    const checks = await checkMachine(data, process.env);
    expect(checks.find(({ id }) => id === 'data-directory')).toMatchObject({
      ok: false,
      found: expect.stringContaining('ENOSPC'),
      advice: expect.stringMatching(/^make room at /),
    });
    // Nothing is left behind that takes room.
    expect((await readdir(data)).toSorted()).toEqual(['.gitignore', 'daemon.log']);
  } finally {
    spawnSync('umount', [disk]);
  }
});

test('with room on the disk an error stays as it is', async () => {
  await using place = await temporary();
  const error = new Error('other');
  await expect(
    tellingFullDisk(place.path, async () => {
      throw error;
    }),
  ).rejects.toBe(error);
});

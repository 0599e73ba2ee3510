/** Who owns a data directory, as far as the system tells it. */
import { type ChildProcess, fork, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdir, mkdtempDisposable, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { findRunningCloud, lockDataDir, startOf } from '../../local/data-dir.ts';

const stateOf = (pid: number): string =>
  readFileSync(`/proc/${pid}/stat`, 'latin1')
    .replace(/^.*\) /s, '')
    .slice(0, 1);

test('a process that was killed and that nobody has buried owns nothing', async () => {
  await using directory = await mkdtempDisposable(join(tmpdir(), 'walkback-owner-'));
  // The shell becomes a program that never asks after its children.
  const parent = spawn('bash', ['-c', 'sleep 100 & echo $!; exec sleep 100'], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  try {
    const [line]: unknown[] = await once(parent.stdout, 'data');
    const pid = Number(String(line));
    const file = {
      pid,
      processStart: startOf(pid),
      startedAt: new Date().toISOString(),
      version: '1.2.3',
      endpoints: { lambda: 'http://127.0.0.1:1' },
      environment: { AWS_ENDPOINT_URL_LAMBDA: 'http://127.0.0.1:1' },
    };
    await writeFile(join(directory.path, 'cloud.json'), JSON.stringify(file));
    expect(await findRunningCloud(directory.path)).toEqual(file);
    // Until then it is still the shell, which buries its children.
    while (readFileSync(`/proc/${parent.pid}/comm`, 'utf8').trim() !== 'sleep') await delay(5);
    process.kill(pid, 'SIGKILL');
    while (stateOf(pid) !== 'Z') await delay(5);
    expect(await findRunningCloud(directory.path)).toBeUndefined();
    const lock = await lockDataDir(directory.path, '1.2.3');
    expect(await findRunningCloud(directory.path)).toMatchObject({ pid: process.pid, version: '1.2.3' });
    await lock.release();
  } finally {
    parent.kill('SIGKILL');
  }
});

test.each(['', '{', 'null', '{"pid":1}', '{"pid":"1","processStart":"","startedAt":""}'])(
  'a file that says %j names nobody, and is taken over',
  async (text) => {
    await using directory = await mkdtempDisposable(join(tmpdir(), 'walkback-owner-'));
    const path = join(directory.path, 'cloud.json');
    await writeFile(path, text);
    expect(await findRunningCloud(directory.path)).toBeUndefined();
    await lockDataDir(directory.path, '1.2.3');
    expect(JSON.parse(await readFile(path, 'utf8'))).toMatchObject({ pid: process.pid });
  },
);

test('a cloud whose directory was deleted and made again leaves that of the next one alone', async () => {
  await using directory = await mkdtempDisposable(join(tmpdir(), 'walkback-owner-'));
  const dataDir = join(directory.path, 'data');
  const path = join(dataDir, 'cloud.json');
  const lock = await lockDataDir(dataDir, '1.2.3');
  expect(await lock.isHeld()).toBe(true);
  await lock.publish({ endpoints: {}, environment: { A: 'mine' } });
  expect(await lock.isHeld()).toBe(true);
  await rm(dataDir, { recursive: true });
  expect(await lock.isHeld()).toBe(false);
  // Neither brings the directory back.
  await lock.publish({ endpoints: {}, environment: {} });
  await expect(readFile(path)).rejects.toThrow('ENOENT');

  const other = spawn('sleep', ['100']);
  try {
    const pid = other.pid ?? 0;
    await lockDataDir(dataDir, '1.2.3');
    const next = {
      pid,
      processStart: startOf(pid),
      startedAt: new Date().toISOString(),
      version: '1.2.3',
      endpoints: {},
      environment: { A: 'its' },
    };
    await writeFile(path, JSON.stringify(next));
    expect(await lock.isHeld()).toBe(false);
    await lock.publish({ endpoints: {}, environment: {} });
    await lock.release();
    expect(await findRunningCloud(dataDir)).toEqual(next);
  } finally {
    other.kill('SIGKILL');
  }
});

/** No process has this id. */
const dead = (startedAt: string): string =>
  JSON.stringify({
    pid: 4_194_305,
    processStart: '1',
    startedAt,
    version: '1.2.3',
    endpoints: {},
    environment: {},
  });

test('of several that find the owner dead at once, one follows it', async () => {
  await using directory = await mkdtempDisposable(join(tmpdir(), 'walkback-owner-'));
  const racers: ChildProcess[] = [];
  const said = async (racer: ChildProcess): Promise<unknown> => (await once(racer, 'message'))[0];
  try {
    for (let count = 0; count < 5; count += 1)
      racers.push(fork(join(import.meta.dirname, '../support/data-dir-child.ts')));
    await Promise.all(racers.map(said));
    for (let round = 0; round < 150; round += 1) {
      const dataDir = join(directory.path, String(round));
      await mkdir(dataDir);
      await writeFile(join(dataDir, 'cloud.json'), round % 5 === 0 ? '' : dead('x'));
      const answers = Promise.all(racers.map(said));
      for (const racer of racers) racer.send(dataDir);
      const others = (await answers).filter((answer) => answer !== 'owner');
      expect(others.length, `round ${round}: ${others.join()}`).toBe(racers.length - 1);
      for (const other of others) expect(other).toContain('a cloud runs in');
      expect(await readdir(dataDir)).toEqual(['cloud.json']);
    }
  } finally {
    for (const racer of racers) racer.kill('SIGKILL');
  }
});

test('one that died while it followed another is followed itself', async () => {
  await using directory = await mkdtempDisposable(join(tmpdir(), 'walkback-owner-'));
  const path = join(directory.path, 'cloud.json');
  const nameAfter = (text: string) =>
    `${path}.after-${createHash('sha256').update(text).digest('hex').slice(0, 16)}`;
  const [first, second, third] = [dead('1'), dead('2'), dead('3')] as const;
  // Killed before it replaced the file, two of them; then after that, and before it removed the names.
  for (const found of [first, third]) {
    await writeFile(path, found);
    await writeFile(nameAfter(first), second);
    await writeFile(nameAfter(second), third);
    await writeFile(`${path}.00000000-claim`, dead('4'));
    const lock = await lockDataDir(directory.path, '1.2.3');
    expect(await lock.isHeld()).toBe(true);
    expect(await readdir(directory.path)).toEqual(['cloud.json']);
    await lock.release();
  }
});

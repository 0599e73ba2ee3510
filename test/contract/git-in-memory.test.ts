/** Where the lists of a call are: in memory when the session is known, on the disk when a call there did not end well. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { test as always, expect } from 'vitest';
import { shellWord } from '../../cli/options.ts';
import { applies, withTwoFiles, world } from '../support/git-repositories.ts';
import { mortalGit } from '../support/mortal-git.ts';
import { OF_SCRIPTS } from '../support/of-scripts.ts';
import { endOf } from '../support/run-sync.ts';
import { sourced } from '../support/sandbox-program.ts';

/** A container may have little shared memory, and then all is on the disk (test/unit/sandbox-run.test.ts). */
const hasRoom = (): boolean => {
  const home = mkdtempSync(join(tmpdir(), 'walkback-room-'));
  writeFileSync(`${home}/index-bytes-s1`, '100000\n');
  const script = `set -- "$PATH" /nowhere\n${sourced('shared/lib', 'shared/run')}HOME_DIR='${home}' SESSION=s1; room_in_memory`;
  const env = { PATH: process.env['PATH'] ?? '' };
  const { status } = endOf('/bin/bash', ['-c', script], { cwd: home, env, encoding: 'latin1' });
  rmSync(home, { recursive: true });
  return status === 0;
};

const test = always.skipIf(OF_SCRIPTS.skip === true || !hasRoom());

const IN_MEMORY = /\/dev\/shm\/walkback-\d+-[^/\s]*/g;

const inMemory = (top: string): string[] =>
  readdirSync('/dev/shm').filter(
    (name) => /^walkback-\d+-/.test(name) && name.includes(`-${basename(top)}-`),
  );

/** A mkdir that says what it is asked to make. */
const openMkdir = () => {
  const bin = mkdtempSync(join(tmpdir(), 'walkback-bin-'));
  const path = process.env['PATH'] ?? '';
  writeFileSync(
    `${bin}/mkdir`,
    `#!/bin/bash\necho "$*" >>${bin}/asked\nPATH=${shellWord(path)} exec mkdir "$@"\n`,
    {
      mode: 0o755,
    },
  );
  return {
    env: { PATH: `${bin}:${path}` },
    asked: (): string => {
      const text = readFileSync(`${bin}/asked`, 'utf8');
      rmSync(`${bin}/asked`);
      return text;
    },
    [Symbol.dispose]: () => rmSync(bin, { recursive: true }),
  };
};

test('rollbacks use memory once the session is known, and nothing stays', async () => {
  using mkdir = openMkdir();
  await using harness = await withTwoFiles(['app', 'lib'], { env: mkdir.env });
  const first = await harness.capture();
  const before = world(harness, ['app', 'lib']);
  harness.sh('echo two > a.txt; rm src/main.c', 'app');
  await applies(harness, first);
  mkdir.asked();
  harness.sh('echo three > a.txt', 'app');
  await applies(harness, first);
  expect(mkdir.asked()).toMatch(IN_MEMORY);
  expect(world(harness, ['app', 'lib'])).toEqual(before);
  expect(inMemory(harness.top)).toEqual([]);
  expect(readdirSync(`${harness.root}/.agent-shadow/run-s1`)).toEqual([]);
});

test('after a call that was killed the next ones use the disk, and lose nothing', async () => {
  using mortal = mortalGit();
  await using harness = await withTwoFiles(['app'], { env: mortal.env });
  const first = await harness.capture();
  harness.sh('echo two > a.txt', 'app');
  await applies(harness, first);
  harness.sh('echo two > a.txt', 'app');
  const second = await harness.capture(first);
  mortal.dieAt(2);
  await expect(harness.rollback(first, { from: second })).rejects.toThrow();
  mortal.live();
  const left = inMemory(harness.top);
  expect(left.length).toBe(1);
  await applies(harness, second);
  harness.sh('echo three > a.txt', 'app');
  await applies(harness, second);
  expect(harness.sh('cat a.txt', 'app')).toBe('two\n');
  expect(inMemory(harness.top)).toEqual(left);
});

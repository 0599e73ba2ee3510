/**
 * A process writes into a file that it has mapped. While a page of it is dirty, and always in a file system in memory, the
 * system sets no new change time. So captures read such files.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { Harness } from '../support/git-harness.ts';
import { applies, rebuilds, withRepositories } from '../support/git-repositories.ts';
import { inTurn } from '../support/sampled-test.ts';

const test = inTurn('git-mapped');

const CHILD = new URL('../support/mapping-child.ts', import.meta.url);
const MAPPED = 'data/t.db-shm';

const withWriter = async (harness: Harness, mode = '') => {
  harness.sh('mkdir -p data', 'app');
  const child: ChildProcess = fork(CHILD, [join(harness.root, 'app/data/t.db'), mode]);
  await once(child, 'message');
  return {
    /** The file may be elsewhere by now. */
    writeThere: async () => {
      child.send('write');
      await once(child, 'message');
    },
    /** Fails when the write can be seen without reading the file. */
    write: async () => {
      const before = [stampOf(harness), bytesOf(harness)];
      child.send('write');
      await once(child, 'message');
      expect(stampOf(harness)).toBe(before[0]);
      expect(bytesOf(harness)).not.toBe(before[1]);
    },
    end: async () => {
      child.kill('SIGKILL');
      await once(child, 'exit');
    },
    [Symbol.dispose]: () => child.kill('SIGKILL'),
  };
};

const mappedFile = (harness: Harness): string => join(harness.root, 'app', MAPPED);
const bytesOf = (harness: Harness): string =>
  createHash('sha256')
    .update(readFileSync(mappedFile(harness)))
    .digest('hex');
const stampOf = (harness: Harness): string => {
  const { ctimeNs, mtimeNs, size, ino } = statSync(mappedFile(harness), { bigint: true });
  return [ctimeNs, mtimeNs, size, ino].join(' ');
};

test.for([
  ['and other files', ''],
  ['and nothing else', `printf '%s\\n' '*.db' '*-wal' >> .git/info/exclude`],
  ['although it is ignored, because git tracks it', `echo '*.db*' >> .gitignore; git add -f ${MAPPED}`],
  ['after other rules came', '', 'echo "*.x" >> .gitignore'],
  ['in a repository inside another', 'git init -q .. '],
])(
  'what a process writes into a mapped file is in the next capture: %s',
  async ([, setting = '', between = '']) => {
    await using harness = await withRepositories(['app']);
    using writer = await withWriter(harness);
    harness.sh(setting, 'app');
    const states = [bytesOf(harness)];
    const first = await harness.capture();
    await writer.write();
    harness.sh(between, 'app');
    states.push(bytesOf(harness));
    const second = await harness.capture();
    await writer.write();
    states.push(bytesOf(harness));
    const { undo } = await applies(harness, first);
    expect(bytesOf(harness)).toBe(states[0]);
    await applies(harness, second);
    expect(bytesOf(harness)).toBe(states[1]);
    await applies(harness, undo);
    expect(bytesOf(harness)).toBe(states[2]);
  },
);

test('a process that had the file mapped at the capture before, and is gone since', async () => {
  await using harness = await withRepositories(['app']);
  using writer = await withWriter(harness);
  await harness.capture();
  await writer.write();
  await writer.end();
  const written = bytesOf(harness);
  const second = await harness.capture();
  harness.sh('rm -r data', 'app');
  await rebuilds(harness, second);
  expect(bytesOf(harness)).toBe(written);
});

test('what is written into a mapped file after it was put aside is captured, also when nobody has it open', async () => {
  await using harness = await withRepositories(['app']);
  const first = await harness.capture();
  using writer = await withWriter(harness, 'closed');
  const second = await harness.capture(first);
  const { report } = await applies(harness, first, { from: second });
  expect(report.asides).toMatchObject([{ late: [], open: expect.arrayContaining([MAPPED]) }]);
  const [aside] = report.asides ?? [];
  const kept = join(aside?.directory ?? '', MAPPED);
  const before = readFileSync(kept);
  await writer.writeThere();
  const written = readFileSync(kept);
  expect(written.equals(before)).toBe(false);
  const late = await harness.captureLate(second);
  expect(late.report.late).toContain(`app/${MAPPED}`);
  await writer.end();
  await harness.lateStored(late);
  expect(existsSync(`${harness.root}/.agent-shadow/aside-s1`)).toBe(false);
  await applies(harness, late);
  expect(readFileSync(mappedFile(harness)).equals(written)).toBe(true);
});

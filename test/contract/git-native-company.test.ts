/** Other processes that write while the native program restores: it comes to an end, and no write of theirs is lost. */
import { readFileSync } from 'node:fs';
import { afterEach, beforeEach, expect } from 'vitest';
import type { Snapshot } from '../support/git-harness.ts';
import { besideRestores } from '../support/git-native-restore.ts';
import { withRepositories } from '../support/git-repositories.ts';
import { racesWithRollbacks } from '../support/racing-rollbacks.ts';
import { lostWords, storeLate } from '../support/racing-writer.ts';
import { namesShells } from '../support/restore-scenes.ts';
import { inTurn } from '../support/sampled-test.ts';

const test = inTurn('git-native-company');

beforeEach(() => {
  besideRestores.native = { compared: 0, left: [], isAlone: true };
});
afterEach(() => {
  expect(besideRestores.native?.left).toEqual([]);
  delete besideRestores.native;
});

for (const onlyContent of [false, true])
  test(
    `no write that races with a restore ${onlyContent ? 'of content ' : ''}is lost, whenever it comes`,
    { timeout: 600_000 },
    () => racesWithRollbacks(8, 40, { onlyContent, pause: 2 }),
  );

test('what was written after the capture is told as late, and stops a restore that has no company', async () => {
  await using harness = await withRepositories(['app']);
  harness.sh('echo begin > log; echo one > other', 'app');
  const first = await harness.capture();
  harness.sh('echo two > other; echo more >> log', 'app');
  const from = await harness.capture(first);
  harness.sh('echo after >> log', 'app');
  const alone = await harness.rollback(first, { from });
  expect(alone.report.problems).toEqual([
    { path: 'app', kind: 'changed', message: expect.stringContaining('changed after the capture') },
  ]);
  const { report, undo } = await harness.rollback(first, { from, allowConcurrentWriters: true });
  expect([report.outcome, report.problems]).toEqual(['applied', []]);
  expect(report.asides?.map(({ late }) => late)).toEqual([['log']]);
  expect(readFileSync(`${harness.root}/app/log`, 'utf8')).toBe('begin\n');
  const captures: Snapshot[] = [undo, await storeLate(harness, undo)];
  expect(await lostWords(harness, 'app', ['after', 'more'], captures)).toEqual([]);
});

test('a file that came or went after the capture stops it, whatever the company', async () => {
  await using harness = await withRepositories(['app']);
  const first = await harness.capture();
  harness.sh('echo two > other', 'app');
  const from = await harness.capture(first);
  harness.sh('echo x > came', 'app');
  const { report } = await harness.rollback(first, { from, allowConcurrentWriters: true });
  expect([report.outcome, report.problems.map(({ kind }) => kind)]).toEqual(['refused', ['changed']]);
});

test(
  'a shell in a directory that both states have goes on, and one in a directory that goes is named',
  namesShells,
);

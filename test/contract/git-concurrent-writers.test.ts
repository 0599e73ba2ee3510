/** Other processes that write while a rollback is at work: it comes to an end, and no write of theirs is lost. */
import { readFileSync } from 'node:fs';
import { expect, vi } from 'vitest';
import type { Snapshot } from '../support/git-harness.ts';
import { withRepositories } from '../support/git-repositories.ts';
import { racesWithRollbacks } from '../support/racing-rollbacks.ts';
import { lostWords, startWriter, storeLate } from '../support/racing-writer.ts';
import { namesShells } from '../support/restore-scenes.ts';
import { longTest, sampledTest } from '../support/sampled-test.ts';

/** Two of them, others each time; all of them in `npm run test:long`. */
const test = sampledTest('git-concurrent-writers', 4);

for (const [how, manner] of [
  ['that it opens for each line', 'append'],
  ['that it holds open', 'hold'],
] as const)
  test(`a rollback beside a process that logs into a captured file ${how}`, async () => {
    await using harness = await withRepositories(['app']);
    harness.sh('echo begin > log; for i in 1 2 3 4 5 6; do echo $i > $i; done', 'app');
    const first = await harness.capture();
    harness.sh('for i in 1 2 3 4 5 6; do echo again > $i; done; echo n > new; rm f.txt', 'app');
    await harness.capture();
    const writer = startWriter([`${harness.root}/app/log`], Math.random, { manners: [manner], pause: 5 });
    const captures: Snapshot[] = [];
    try {
      const { report, undo } = await harness.rollback(first, { allowConcurrentWriters: true });
      captures.push(undo);
      expect([report.outcome, report.problems]).toEqual(['applied', []]);
      expect(readFileSync(`${harness.root}/app/1`, 'utf8')).toBe('1\n');
      if (manner === 'hold') expect(report.asides?.[0]?.open).toEqual(['log']);
      await vi.waitUntil(() => writer.words.length > 20, 60_000);
      await writer.stop();
      if ((report.asides ?? []).length > 0) captures.push(await storeLate(harness, undo));
    } finally {
      await writer.stop();
    }
    expect(await lostWords(harness, 'app', writer.words, captures)).toEqual([]);
  });

test('what was written after the capture is told as late, and stops a restore that allows no concurrent writers', async () => {
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

test('a file that came or went after the capture stops it, also where concurrent writers are allowed', async () => {
  await using harness = await withRepositories(['app']);
  const first = await harness.capture();
  harness.sh('echo two > other', 'app');
  const from = await harness.capture(first);
  harness.sh('echo x > came', 'app');
  const { report } = await harness.rollback(first, { from, allowConcurrentWriters: true });
  expect([report.outcome, report.problems.map(({ kind }) => kind)]).toEqual(['refused', ['changed']]);
});

for (const onlyContent of [false, true])
  test(
    `no write that races with a rollback ${onlyContent ? 'of content ' : ''}is lost, whenever it comes`,
    () => racesWithRollbacks(6, 60, { onlyContent }),
    {
      timeout: 600_000,
    },
  );

test(
  'a shell in a directory that both states have goes on, and one in a directory that goes is named',
  namesShells,
);

longTest('no write that races with a rollback is lost, whenever it comes', { timeout: 1_200_000 }, () =>
  racesWithRollbacks(15, 150),
);

longTest(
  'no write that races with a rollback of content is lost, whenever it comes',
  { timeout: 1_200_000 },
  () => racesWithRollbacks(12, 300, { onlyContent: true, pause: 2 }),
);

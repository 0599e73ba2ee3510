/** Other processes that write while a rollback is at work: it comes to an end, and no write of theirs is lost. */
import { existsSync, readFileSync } from 'node:fs';
import { expect, vi } from 'vitest';
import { commandsWithout } from '../support/command-faults.ts';
import type { Snapshot } from '../support/git-harness.ts';
import { goesBackAndForth, withRepositories } from '../support/git-repositories.ts';
import { racesWithRollbacks } from '../support/racing-rollbacks.ts';
import { lostWords, startWriter, storeLate } from '../support/racing-writer.ts';
import { namesShells } from '../support/restore-scenes.ts';
import { longTest, sampledTest } from '../support/sampled-test.ts';

/** Two of them, others each time; all of them in `npm run test:long`. */
const test = sampledTest('git-company', 4);

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

test('where there is no perl, files are put aside by mv, one directory after the other', async () => {
  using commands = commandsWithout('perl');
  await using harness = await withRepositories(['app'], { env: { PATH: commands.path } });
  harness.sh('mkdir -p d/e "s p"; echo 1 > d/1; echo 2 > d/e/2; echo 3 > "s p/- 3"', 'app');
  const work = 'echo x > d/1; rm -r d/e; echo y > "s p/- 3"; echo z > f.txt; ln -s f.txt z';
  await goesBackAndForth(harness, () => harness.sh(work, 'app'), ['app'], ['app'], true);
  expect(existsSync(`${harness.root}/.agent-shadow/aside-s1`)).toBe(false);
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

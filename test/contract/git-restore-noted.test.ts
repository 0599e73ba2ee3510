/** What a restore notes of itself: where that fails it is a failure, and what is done stays done when the power goes. */
import { expect, test } from 'vitest';
import { createHarness } from '../support/git-harness.ts';
import { applies, TWO_FILES, world } from '../support/git-repositories.ts';
import { tracedProgram, whyUntraced } from '../support/traced-program.ts';

test('a rollback that cannot note that it proves is put back, also where every repository leaves', async ({
  skip,
}) => {
  const why = whyUntraced();
  if (why !== undefined) skip(why);
  using traced = tracedProgram();
  await using harness = await createHarness({ prefix: traced.prefix });
  const first = await harness.capture();
  harness.sh(`mkdir app; cd app; ${TWO_FILES}`);
  const looks = world(harness, ['app']);
  const from = await harness.capture(first);
  const does = { kind: 'fail', errno: 'ENOSPC', when: 'before' } as const;
  const planned = { kinds: ['renames'], about: 'journal-s1', at: 2, does } as const;
  const { answer, told } = await traced.during(harness.root, planned, () =>
    harness.rollback(first, { from }),
  );
  expect(told.flatMap(({ done }) => done)).toHaveLength(1);
  const { outcome, problems } = answer.report;
  expect([outcome, problems.map(({ path, kind }) => [path, kind])]).toEqual([
    'reverted',
    [['app', 'failed']],
  ]);
  expect(problems[0]?.message).toContain('what the restore is at cannot be noted');
  expect(world(harness, ['app'])).toEqual(looks);
  await applies(harness, first);
});

test('no restore is told of one that was done when the power went', async ({ skip }) => {
  const why = whyUntraced();
  if (why !== undefined) skip(why);
  using traced = tracedProgram();
  await using harness = await createHarness({ prefix: traced.prefix });
  harness.sh(`mkdir app; cd app; ${TWO_FILES}`);
  const first = await harness.capture();
  harness.sh('echo two > a.txt; git add a.txt', 'app');
  const from = await harness.capture(first);
  const planned = { kinds: [], at: 1, does: { kind: 'lose-at-end', keeps: 'nothing' } } as const;
  const { answer, told } = await traced.during(harness.root, planned, () =>
    harness.rollback(first, { from }),
  );
  expect(told.flatMap(({ done }) => done).join()).toContain('lost: ');
  expect(answer.report.outcome).toBe('applied');
  const { report } = await applies(harness, from);
  expect(report.warnings).toEqual([]);
});

/** Files that a restore was replacing when it was killed: they lie aside, and their places are free. Settling puts them back. */
import { existsSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { files } from '../support/fingerprint.ts';
import { createHarness } from '../support/git-harness.ts';
import { applies, withRepositories } from '../support/git-repositories.ts';
import { printedSeed, WHOLE } from '../support/sampling.ts';
import { tracedProgram, whyUntraced } from '../support/traced-program.ts';

const SEED = printedSeed('files between two names');
const FILES = ['a', 'b', 'c'];

/** What happens between the kill and the settling. */
const BEFORE = ['nothing', 'a dry run', 'a settling that fails'] as const;

test.for(BEFORE)(
  'a file that a killed restore was replacing goes back after %s',
  { timeout: 1_200_000 },
  async (before, { skip }) => {
    const why = whyUntraced();
    if (why !== undefined) skip(why);
    using traced = tracedProgram();
    await using harness = await createHarness({ prefix: traced.prefix });
    harness.sh('git init -q -b main app; for n in a b c; do echo one > app/$n; done');
    const first = await harness.capture();
    // Each file takes two renames, so that every second one could always be its last.
    const every = WHOLE ? 1 : 3;
    let between = 0;
    for (let at = 1 + (SEED % every), isMet = true; isMet; at += every) {
      harness.sh('for n in a b c; do echo two $n > $n; done', 'app');
      const undo = await harness.capture(first);
      const looks = files(harness.root);
      const kill = { kinds: ['renames'], at, does: { kind: 'kill', when: 'after' } } as const;
      const { told } = await traced.during(harness.root, kill, () =>
        harness.rollback(first, { from: undo }).catch(() => undefined),
      );
      isMet = told.some(({ done }) => done.length > 0);
      const name = `killed after rename ${at}`;
      const isBetween = isMet && FILES.some((file) => !existsSync(`${harness.root}/app/${file}`));
      between += Number(isBetween);
      if (isMet && before === 'a dry run') await harness.rollback(first, { dryRun: true });
      if (isMet && before === 'a settling that fails') {
        const full = { kind: 'fail', errno: 'ENOSPC', when: 'before' } as const;
        const planned = { kinds: ['renames'], about: 'journal-s1', at: 2, does: full } as const;
        const { answer } = await traced.during(harness.root, planned, () => harness.settle(undo, first));
        // Where nothing was written yet, there is nothing to fail.
        expect(answer.report.outcome, name).toBe(answer.report.settled?.reached ? 'reverted' : 'applied');
      }
      if (isMet) {
        const { report } = await harness.settle(undo, first);
        expect([report.outcome, report.problems, report.settled?.kept], name).toEqual(['applied', [], []]);
        expect(files(harness.root), name).toEqual(looks);
        expect(existsSync(`${harness.root}/.agent-shadow/aside-s1`), name).toBe(false);
      }
    }
    expect(between).toBeGreaterThan(0);
  },
);

test('a file that somebody removed stays away, also when an earlier restore left one of that name aside', async () => {
  await using harness = await withRepositories(['app']);
  harness.sh('echo begin > log; echo one > other', 'app');
  const first = await harness.capture();
  harness.sh('echo two > log; echo two > other', 'app');
  const second = await harness.capture(first);
  const held = await open(`${harness.root}/app/log`, 'a');
  await applies(harness, first, { from: second });
  expect(existsSync(`${harness.root}/.agent-shadow/aside-s1`)).toBe(true);
  await applies(harness, second);
  await held.close();
  // A rollback to the first state wrote one file, and was ended.
  harness.sh('echo one > other; rm log', 'app');
  const { report } = await harness.settle(second, first);
  expect(report).toMatchObject({ outcome: 'applied', settled: { reached: 1, kept: ['app/log'] } });
  expect(harness.sh('ls; cat other', 'app')).toMatch(/^(?!.*log)[^]*two\n$/);
});

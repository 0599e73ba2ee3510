/** What a restore begins among the files of the user, and leaves where it is killed: the next call of any kind takes it back. */
import { readdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import { files } from '../support/fingerprint.ts';
import { createHarness, type Harness } from '../support/git-harness.ts';
import { applies, TWO_FILES } from '../support/git-repositories.ts';
import { printedSeed, WHOLE } from '../support/sampling.ts';
import { type Kind, type TracedProgram, tracedProgram, whyUntraced } from '../support/traced-program.ts';

const SEED = printedSeed('what a restore began');

/** `kill` answers whether the call came at which it kills. */
type Play = (kill: (act: () => Promise<unknown>) => Promise<boolean>, at: number) => Promise<void>;

const FULL = { kind: 'fail', errno: 'ENOSPC', when: 'before' } as const;

/** Kills the program at some of its calls of a kind, until it has no more of them. */
const killed = async (
  kind: Kind,
  every: number,
  make: (harness: Harness, traced: TracedProgram) => Promise<Play>,
): Promise<void> => {
  using traced = tracedProgram();
  await using harness = await createHarness({ prefix: traced.prefix });
  const play = await make(harness, traced);
  const last = { isMet: true };
  for (let at = 1 + (SEED % every); last.isMet; at += every) {
    await play(async (act) => {
      const planned = { kinds: [kind], at, does: { kind: 'kill', when: 'before' } } as const;
      const { told } = await traced.during(harness.root, planned, () => act().catch(() => undefined));
      last.isMet = told.some(({ done }) => done.length > 0);
      return last.isMet;
    }, at);
  }
};

const left = (harness: Harness): string =>
  harness.sh('find . -path "*/.agent-shadow/begun-*" -o -name "carried-*" -o -name ".walkback-new*"');

for (const kind of ['renames', 'directories', 'removals'] as const) {
  test(`nothing is left of a repository that did not come, also not by a capture: ${kind}`, {
    timeout: 1_200_000,
  }, async ({ skip }) => {
    const why = whyUntraced();
    if (why !== undefined) skip(why);
    await killed(kind, WHOLE ? 2 : 9, async (harness) => {
      harness.sh(`mkdir app; cd app; ${TWO_FILES}`);
      const without = await harness.capture();
      harness.sh(`mkdir -p deep/comes; cd deep/comes; ${TWO_FILES}; mkdir hollow`);
      const second = await harness.capture();
      const both = files(harness.root);
      await applies(harness, without);
      return async (kill, at) => {
        if (at % 2 === 0) harness.sh('rm -rf .agent-shadow/parked-s1');
        const from = await harness.capture(second);
        const isKilled = await kill(() => harness.rollback(second, { from }));
        await harness.capture();
        const name = `killed at ${kind} ${at}`;
        const isThere = readdirSync(harness.root).includes('deep');
        // It is a repository, or nothing.
        if (isThere) expect(readdirSync(`${harness.root}/deep/comes`), name).toContain('.git');
        if (isKilled && at % 3 === 0) {
          await applies(harness, second);
          expect(files(harness.root), name).toEqual(both);
        }
        await applies(harness, without);
        expect(readdirSync(harness.root).toSorted(), name).toEqual(['.agent-shadow', 'app']);
        expect(left(harness), name).toBe('');
        await applies(harness, second);
        expect(files(harness.root), name).toEqual(both);
        await applies(harness, without);
      };
    });
  });
}

/** What is called after the kill. */
const NEXT = ['settled', 'the way back', 'put back'] as const;

test.for(NEXT)(
  'a .git that git cannot use comes back when the restore that parked it was killed, and is %s',
  { timeout: 1_200_000 },
  async (next, { skip }) => {
    const why = whyUntraced();
    if (why !== undefined) skip(why);
    const outcomes: string[] = [];
    await killed('renames', WHOLE ? 1 : 5, async (harness, traced) => {
      harness.sh(`mkdir app; cd app; ${TWO_FILES}`);
      const first = await harness.capture();
      const unusable = 'rm -r .git; mkdir .git; echo mine > .git/mine; echo two > a.txt; echo new > new.txt';
      harness.sh(unusable, 'app');
      const looks = files(harness.root);
      const undo = await harness.capture(first);
      return async (kill, at) => {
        const name = `killed at rename ${at}, ${next}`;
        const isKilled = await kill(() => harness.rollback(first, { from: undo }));
        if (!isKilled) return;
        if (next === 'settled') {
          const { report } = await harness.settle(undo, first);
          expect([report.outcome, report.problems], name).toEqual(['applied', []]);
          expect(report.settled?.kept, name).toEqual([]);
        } else if (next === 'the way back') await applies(harness, undo);
        else {
          const from = await harness.capture(first);
          // It fails when everything has moved.
          const planned = { kinds: ['renames'], about: 'journal-s1', at: 2, does: FULL } as const;
          const { answer } = await traced.during(harness.root, planned, () =>
            harness.rollback(first, { from, undo }),
          );
          outcomes.push(answer.report.outcome);
          if (answer.report.outcome !== 'reverted') {
            // It was at the target already. After that, it stays parked.
            expect(answer.report.outcome, name).toBe('applied');
            await applies(harness, undo);
            harness.sh('mkdir .git; echo mine > .git/mine', 'app');
          }
        }
        expect(files(harness.root), name).toEqual(looks);
        expect(harness.sh('ls .git; cat .git/mine', 'app'), name).toBe('mine\nmine\n');
        expect(left(harness), name).toBe('');
      };
    });
    if (next === 'put back') expect(outcomes).toContain('reverted');
  },
);

/** A restore is killed at each of its own writing calls of the system: whatever is called next finishes or takes back. */
import { existsSync } from 'node:fs';
import { describe, expect } from 'vitest';
import { KINDS } from '../support/disk-faults.ts';
import { createHarness } from '../support/git-harness.ts';
import { world } from '../support/git-repositories.ts';
import { inTurn } from '../support/sampled-test.ts';
import { printedSeed, sampled, WHOLE } from '../support/sampling.ts';
import { tracedProgram, whyUntraced } from '../support/traced-program.ts';

const test = inTurn('git-killed-instants');

const SEED = printedSeed('instants of a restore');

const FIRST = `mkdir app; cd app; git init -q -b main .; mkdir -p d/e hollow; for n in a b c d/1 d/e/2; do echo $n > $n; done; ln -s a link; git add -A; git commit -qm one
chmod 600 b; echo x > x; chmod 755 x; git branch side; echo staged > a; git add a; echo later > a`;
const ALONE = `cd app; rm -r d hollow link; mkdir link f; echo l > link/l; echo d > d; echo 2 > f/2; rm c; chmod 644 b; git add -A; git commit -qm two; git checkout -qb topic; git branch -D side; mkdir void
echo more > x`;
const LEAVING = `${ALONE}; git init -q -b main ../gone; cd ../gone; echo g > g; git add g; git commit -qm g; echo h > h`;

const INSIDE = `${ALONE}; mkdir -p in/deep; cd in/deep; git init -q -b main .; echo g > g; mkdir e; git add g; git commit -qm g; echo h > h`;

/** Alone, and beside and around one that leaves and is parked, and comes back. */
const STATES = [
  ['alone', ['app'], ALONE, KINDS],
  ['beside one that leaves', ['app', 'gone'], LEAVING, ['renames', 'removals', 'directories']],
  ['around one that leaves', ['app', 'app/in/deep'], INSIDE, ['renames', 'removals', 'directories']],
] as const;

/** What is called after the kill, and where everything is to stand then. */
const NEXT = ['the same again', 'settled', 'the way back'] as const;

describe('killed at one of its calls', () => {
  const cases = STATES.flatMap(([how, names, second, kinds]) =>
    kinds.map((kind) => ({ how, names, change: second, kind })),
  );
  test.for(sampled(cases, { every: 4, offset: SEED }))(
    '$how, of its $kind: the next call arrives, and nothing is lost',
    { timeout: 1_200_000 },
    async ({ names, change, kind }, { skip }) => {
      const why = whyUntraced();
      if (why !== undefined) skip(why);
      const NAMES = [...names];
      using traced = tracedProgram();
      await using harness = await createHarness({ prefix: traced.prefix });
      harness.sh(FIRST);
      const first = await harness.capture();
      const before = world(harness, NAMES);
      harness.sh(change);
      const after = world(harness, NAMES);
      // On the way back nothing moves any more.
      const second = await harness.capture(first);
      const every = WHOLE ? 1 : 9;
      let deaths = 0;
      for (let at = 1 + (WHOLE ? 0 : SEED % every); ; at += every) {
        const name = `killed at ${kind} ${at}`;
        const from = await harness.capture(first);
        const { answer: met } = await traced.during(
          harness.root,
          { kinds: [kind], at, does: { kind: 'kill', when: 'before' } },
          () =>
            harness.rollback(first, { from }).then(
              ({ report }) => report.outcome,
              () => 'died',
            ),
        );
        const next = NEXT[at % NEXT.length];
        if (met !== 'died') {
          expect(met, name).toBe('applied');
        } else {
          deaths += 1;
          if (next === 'settled') {
            const { report } = await harness.settle(second, first);
            expect([report.outcome, report.problems], `${name}, ${next}`).toEqual(['applied', []]);
            expect([report.settled?.kept, world(harness, NAMES)], `${name}, ${next}`).toEqual([[], after]);
          }
          const to = next === 'the same again' ? first : second;
          const { report } = await harness.rollback(to);
          expect([report.outcome, report.problems], `${name}, ${next}`).toEqual(['applied', []]);
          expect(world(harness, NAMES), `${name}, ${next}`).toEqual(to === first ? before : after);
          expect(report.asides, `${name}, ${next}`).toEqual([]);
          expect(existsSync(`${harness.root}/.agent-shadow/aside-s1`), `${name}, ${next}`).toBe(false);
        }
        const back = await harness.rollback(second);
        expect([back.report.outcome, back.report.problems], `back after ${name}`).toEqual(['applied', []]);
        expect(world(harness, NAMES), `back after ${name}`).toEqual(after);
        expect(existsSync(`${harness.root}/.agent-shadow/journal-s1`), `back after ${name}`).toBe(false);
        if (met !== 'died') break;
      }
      process.stdout.write(`git-killed-instants: ${deaths} deaths at ${kind}\n`);
      if (WHOLE) expect(deaths).toBeGreaterThan(0);
    },
  );
});

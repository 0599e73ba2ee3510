/** A restore that is killed anywhere: the next one arrives, and nothing that was put aside is left. */
import { existsSync } from 'node:fs';
import { expect } from 'vitest';
import { withRepositories, world } from '../support/git-repositories.ts';
import { mortalProgram } from '../support/mortal-program.ts';
import { inTurn } from '../support/sampled-test.ts';
import { printedSeed, WHOLE } from '../support/sampling.ts';

const test = inTurn('git-killed-program');

/** Every how many calls of git it dies once. */
const EVERY = WHOLE ? 2 : 11;
const SEED = printedSeed('killed restores');
const NAMES = ['app', 'lib'];

test('killed at any call of git, it is finished by the next call, and can be undone', {
  timeout: 1_200_000,
}, async () => {
  using mortal = mortalProgram();
  await using harness = await withRepositories(NAMES, { env: mortal.env });
  harness.sh('mkdir -p d/e; echo 1 > d/e/1; echo 1 > x; chmod 600 x; echo s > s; git add s', 'app');
  const before = world(harness, NAMES);
  const first = await harness.capture();
  harness.sh(
    'rm -r d s; mkdir f; echo 2 > f/2; echo 2 > x; git add -A; git commit -qm two; git checkout -qb topic; echo 3 > f.txt; git branch -D main',
    'app',
  );
  harness.sh('echo two > f.txt; git commit -qam two', 'lib');
  const after = world(harness, NAMES);
  let deaths = 0;
  let isDone = false;
  for (let call = 1 + (SEED % EVERY); !isDone; call += EVERY) {
    const second = await harness.capture(first);
    const met = await mortal.dieAt(call, () =>
      harness.rollback(first, { from: second }).then(
        ({ report }) => report.outcome,
        () => 'died',
      ),
    );
    isDone = met !== 'died';
    if (isDone) expect(met).toBe('applied');
    else deaths += 1;
    const there = await harness.rollback(first);
    expect([there.report.outcome, there.report.problems], `killed at call ${call}`).toEqual(['applied', []]);
    expect(world(harness, NAMES), `killed at call ${call}`).toEqual(before);
    expect(existsSync(`${harness.root}/.agent-shadow/aside-s1`), `killed at call ${call}`).toBe(false);
    harness.standOn(first);
    const back = await harness.rollback(second);
    expect([back.report.outcome, back.report.problems], `back after ${call}`).toEqual(['applied', []]);
    expect(world(harness, NAMES), `back after ${call}`).toEqual(after);
  }
  process.stdout.write(`git-killed-program: ${deaths} deaths\n`);
  expect(deaths).toBeGreaterThan(0);
});

/** A restore that dies anywhere, while repositories come and go inside another one: the next one converges, and nothing is lost. */
import { mkdirSync } from 'node:fs';
import { expect } from 'vitest';
import { files, gitState } from '../support/fingerprint.ts';
import { createHarness, type Harness } from '../support/git-harness.ts';
import { mortalGit } from '../support/mortal-git.ts';
import { inTurn } from '../support/sampled-test.ts';
import { printedSeed, WHOLE } from '../support/sampling.ts';

const test = inTurn('git-killed');

/** Every how many calls of git it dies once. */
const EVERY = WHOLE ? 3 : 17;
const SEED = printedSeed('killed git');

const world = (harness: Harness, names: string[]): string[] => [
  ...files(harness.root),
  ...names.flatMap((name) => gitState(`${harness.root}/${name}`).map((line) => `${name}: ${line}`)),
];

/** Once a half done restore has put the older rules in place, this is captured like anything else, and goes with it. */
const withoutIgnored = (lines: string[]): string[] => lines.filter((line) => !/ app\/nm/.test(line));

test('killed at any call of git, it is finished by the next call, and can be undone', {
  timeout: 1_200_000,
}, async () => {
  using mortal = mortalGit();
  await using harness = await createHarness({ env: mortal.env });
  mkdirSync(`${harness.root}/app`);
  harness.sh(
    'git init -q -b main .; mkdir pkg; echo p > pkg/p; echo q > pkg/q; echo f > f; git add -A; git commit -qm one',
    'app',
  );
  const before = world(harness, ['app']);
  const first = await harness.capture();
  harness.sh(
    'cd pkg; git init -q -b main .; echo r > r; rm q; echo 2 > p; git add -A; git commit -qm in; git tag keep; cd ..; echo nm/ > .gitignore; mkdir nm; echo n > nm/n; echo 2 > f; git commit -qam two; git init -q ../other; echo o > ../other/o',
    'app',
  );
  const names = ['app', 'app/pkg', 'other'];
  const second = await harness.capture();
  const after = withoutIgnored(world(harness, names));
  let finished = false;
  let deaths = 0;
  for (let call = 1 + (SEED % EVERY); !finished; call += EVERY) {
    mortal.dieAt(call);
    finished = await harness.rollback(first).then(
      () => true,
      () => false,
    );
    mortal.live();
    if (!finished) deaths += 1;
    const there = await harness.rollback(first);
    expect([there.report.outcome, there.report.problems], `killed at call ${call}`).toEqual(['applied', []]);
    expect(withoutIgnored(world(harness, ['app'])), `killed at call ${call}`).toEqual(before);
    const back = await harness.rollback(second);
    expect([back.report.outcome, back.report.problems], `back after ${call}`).toEqual(['applied', []]);
    expect(withoutIgnored(world(harness, names)), `back after ${call}`).toEqual(after);
    expect(harness.sh('git tag', 'app/pkg'), `back after ${call}`).toBe('keep\n');
  }
  expect(deaths).toBeGreaterThanOrEqual(WHOLE ? 10 : 1);
});

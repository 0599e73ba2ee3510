/** A sandbox whose shell dies at any call of git while it composes: nothing of the user's changed, and the next call composes the same. */
import { expect } from 'vitest';
import { state } from '../support/git-cases.ts';
import { createHarness } from '../support/git-harness.ts';
import { mortalGit } from '../support/mortal-git.ts';
import { inTurn } from '../support/sampled-test.ts';
import { printedSeed, WHOLE } from '../support/sampling.ts';

const test = inTurn('git-merge-killed');

/** Every how many calls of git it dies once. */
const EVERY = WHOLE ? 2 : 17;
const SEED = printedSeed('killed compositions');

const MAKE = 'echo 1 > f; seq 40 > lines; git add -A; git commit -qm one; chmod 600 f; mkdir hollow';

test('killed at any call of git, a composition leaves nothing behind that the next one meets', {
  timeout: 960_000,
}, async () => {
  using mortal = mortalGit();
  await using harness = await createHarness({ env: mortal.env });
  harness.sh(`for r in app lib; do (git init -q -b main $r; cd $r; ${MAKE}); done`);
  const base = await harness.capture();
  harness.sh(
    'cd app; sed -i 1s/.*/theirs/ lines; git commit -qam two; chmod 640 f; cd ../lib; rm -r hollow; echo t > t; git init -q ../born; echo b > ../born/b',
  );
  const theirs = await harness.capture();
  expect((await harness.rollback(base)).report.outcome).toBe('applied');
  harness.sh('sed -i 40s/.*/ours/ app/lines; echo o > lib/o');
  await harness.capture();
  const before = state(harness);
  const trees = ({ repositories }: typeof base) =>
    repositories.map(({ path, tree, meta }) => [path, tree, meta]);
  const whole = trees((await harness.compose([{ base, theirs }])).merged);
  let deaths = 0;
  for (let call = 1 + (SEED % EVERY); ; call += EVERY) {
    mortal.dieAt(call);
    const finished = await harness.compose([{ base, theirs }]).then(
      () => true,
      () => false,
    );
    mortal.live();
    expect(state(harness), `killed at call ${call}`).toEqual(before);
    if (finished) break;
    deaths += 1;
    const again = await harness.compose([{ base, theirs }]);
    expect(trees(again.merged), `after call ${call}`).toEqual(whole);
  }
  expect(deaths).toBeGreaterThanOrEqual(WHOLE ? 7 : 1);
  const { merged, report } = await harness.compose([{ base, theirs }]);
  expect(report.conflicts).toEqual([]);
  expect((await harness.rollback(merged)).report.outcome).toBe('applied');
  expect(harness.sh('cat app/lines | sed -n "1p;40p"; cat lib/o lib/t born/b; stat -c %a app/f')).toBe(
    'theirs\nours\no\nt\nb\n640\n',
  );
});

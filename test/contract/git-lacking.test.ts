/** Systems without newer calls, and file systems without their flags: old kernels, filters of calls, network drives. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { applies, rebuilds, TWO_FILES, withTwoFiles, world } from '../support/git-repositories.ts';
import { racesWithRollbacks } from '../support/racing-rollbacks.ts';
import { LACKS, type Lack, programLacking, whyUntraced } from '../support/traced-program.ts';

const WORK = `echo two > a.txt; rm -r src; ln -s a.txt src; mkdir -p deep/er; echo new > deep/er/new; chmod 600 a.txt
git checkout -qb topic; git add -A; git commit -qm two; echo staged > staged; git add staged`;

const lacking = () => {
  const place = mkdtempSync(join(tmpdir(), 'walkback-lacking-'));
  return {
    program: (lacks: readonly Lack[]) => programLacking(lacks, place),
    [Symbol.dispose]: () => rmSync(place, { recursive: true }),
  };
};

test.for<[string, readonly Lack[]]>([
  ['renames with flags', ['rename-flags']],
  ['renames with flags and second names', ['rename-flags', 'links']],
  ['all of it', LACKS],
])('files and repositories go and come back in a system without %s', async ([, lacks], { skip }) => {
  const why = whyUntraced();
  if (why !== undefined) skip(why);
  using place = lacking();
  await using harness = await withTwoFiles(['app', 'lib'], { program: place.program(lacks) });
  const first = await harness.capture();
  const before = world(harness, ['app', 'lib']);
  harness.sh(WORK, 'app');
  harness.sh(`rm -r lib; mkdir new; cd new; ${TWO_FILES}`);
  const after = world(harness, ['app', 'new']);
  const { undo } = await applies(harness, first);
  expect(world(harness, ['app', 'lib'])).toEqual(before);
  await applies(harness, undo);
  expect(world(harness, ['app', 'new'])).toEqual(after);
  await rebuilds(harness, undo);
  expect(world(harness, ['app', 'new'])).toEqual(after);
});

// Without second names, a write at the instant of a rename is lost: nothing else gives a name without taking it from another.
test('no write that races with a rollback is lost in a system without exchanges', async ({ skip }) => {
  const why = whyUntraced();
  if (why !== undefined) skip(why);
  using place = lacking();
  await racesWithRollbacks(6, 60, { program: place.program(['rename-flags']) });
});

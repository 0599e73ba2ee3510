/** A shallow clone whose boundary moves: what came below it is in the next capture. */
import { expect } from 'vitest';
import { createHarness } from '../support/git-harness.ts';
import { applies, rebuilds, world } from '../support/git-repositories.ts';
import { sampledTest } from '../support/sampled-test.ts';

const test = sampledTest('git-shallow', 3);

const MOVES = [
  ['nothing but the boundary', '--depth 1', 'git fetch -q --unshallow'],
  ['all of it, and HEAD goes there', '--depth 1', 'git fetch -q --unshallow; git checkout -q HEAD~3'],
  [
    'some of it, and the branch goes there',
    '--depth 2',
    'git fetch -q --deepen 2; git reset -q --hard HEAD~2',
  ],
  [
    'history that was cut',
    '',
    'git fetch -q --depth 1; git reflog expire --expire=now --all; git gc -q --prune=now',
  ],
] as const;

test.for(MOVES)('a shallow clone whose boundary moved comes back: %s', async ([, depth, work]) => {
  await using harness = await createHarness();
  harness.sh(
    `git init -q -b main ../origin; cd ../origin; for i in 1 2 3 4 5; do echo $i > f; git add -A; git commit -qm $i; done
git clone -q ${depth} "file://$PWD" ../projects/app`,
  );
  const looks = () => [
    world(harness, ['app']),
    harness.sh('git log --format=%H; git fsck 2>&1 | grep -v "^dangling\\|^notice" || :', 'app'),
  ];
  const before = looks();
  const first = await harness.capture();
  harness.sh(work, 'app');
  const after = looks();
  const second = await harness.capture();
  harness.sh('echo more > more', 'app');
  const third = await harness.capture();
  await applies(harness, first);
  await applies(harness, second);
  expect(looks()).toEqual(after);
  for (const [snapshot, expected] of [
    [first, before],
    [second, after],
  ] as const) {
    await rebuilds(harness, snapshot);
    expect(looks()).toEqual(expected);
  }
  expect((await harness.rehydrate(third)).outcome).toBe('applied');
});

test('a partial clone that became a whole one brings a base of its own', async () => {
  await using harness = await createHarness();
  harness.sh(
    `git init -q -b main ../origin; cd ../origin; git config uploadpack.allowFilter true; for i in 1 2 3; do echo $i > f; git add -A; git commit -qm $i; done
git clone -q --filter=blob:none "file://$PWD" ../projects/app`,
  );
  const first = await harness.capture();
  harness.sh(
    `git config --unset remote.origin.partialclonefilter; git config --unset remote.origin.promisor
git -C ../../origin rev-list --objects --all | git -C ../../origin pack-objects -q --stdout > ../../all; rm .git/objects/pack/*; git unpack-objects -q < ../../all
git checkout -q HEAD~1`,
    'app',
  );
  const after = world(harness, ['app']);
  const second = await harness.capture();
  expect(second.repositories[0]?.base).not.toBe(first.repositories[0]?.base);
  await rebuilds(harness, second);
  expect(world(harness, ['app'])).toEqual(after);
  expect(harness.sh('git fsck 2>&1', 'app')).toBe('');
});

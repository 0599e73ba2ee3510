/** A repository that comes where nothing was: written and proven beside its place, and then named. */
import { existsSync, readFileSync } from 'node:fs';
import { expect } from 'vitest';
import type { Harness } from '../support/git-harness.ts';
import { applies, withRepositories, world } from '../support/git-repositories.ts';
import { beforePlacing } from '../support/placing.ts';
import { inTurn, sampledTest } from '../support/sampled-test.ts';

const always = inTurn('git-filling');
const test = sampledTest('git-filling', 3);

const MANY_FILES = 2000;

const MADE = `mkdir -p d/e "s p" empty/inner private && chmod 700 private
echo x >run && chmod 755 run && echo p >private/p && chmod 600 private/p && : >nothing
ln -s d link && ln -s gone d/dangling && echo o >"s p/-x" && echo n >$'d/\\n' && echo '*.log' >.gitignore && echo kept >d/e/deep`;

const makeMany = (count: number): string =>
  `for i in {1..${count}}; do d=many/$((i % 7)); mkdir -p $d; echo $i >$d/$i; done`;

/** A state with the repository, and one without it. */
const gone = async (harness: Harness, make = MADE) => {
  harness.sh(make, 'app');
  const before = world(harness, ['app']);
  const there = await harness.capture();
  harness.sh('rm -rf app');
  const without = await harness.capture();
  return { there, without, before };
};

test.for([MANY_FILES - 20, MANY_FILES + 20])(
  'a repository of about %i files comes back byte for byte, and where it went it comes back again',
  async (count) => {
    await using harness = await withRepositories(['app']);
    const { there, without, before } = await gone(harness, `${MADE}\n${makeMany(count)}`);
    await applies(harness, there);
    expect(world(harness, ['app'])).toEqual(before);
    await applies(harness, without);
    expect(existsSync(`${harness.root}/app`)).toBe(false);
    // With its own git directory and shadow, which were parked.
    await applies(harness, there);
    expect(world(harness, ['app'])).toEqual(before);
    expect((await harness.rehydrate(there)).problems).toEqual([]);
    expect(world(harness, ['app'])).toEqual(before);
  },
);

test("neither git need read a file again: both know each file's time, which is before this second", async () => {
  await using harness = await withRepositories(['app'], {}, 'git init -q -b main .');
  harness.sh('mkdir d; for i in {1..50}; do echo $i >d/$i; done; git add -A; git commit -qm one', 'app');
  const first = await harness.capture();
  expect((await harness.rehydrate(first)).outcome).toBe('applied');
  // It asks for times alone.
  expect(harness.sh('git diff-files --name-only', 'app')).toBe('');
  // Of the same size, in the same second or not: a write is seen by its time.
  harness.sh('echo 9 >d/1; echo 99 >d/50', 'app');
  expect(harness.sh('git diff-files --name-only', 'app')).toBe('d/1\nd/50\n');
  harness.sh('rm .git/index', 'app');
  const second = await harness.capture();
  expect(second.repositories[0]?.tree).not.toBe(first.repositories[0]?.tree);
});

test.for([
  ['a file in the place of a directory', 'echo others >d', 'd'],
  ['a file in a directory of that name', 'mkdir -p d/e; echo others >d/e/deep', 'd/e/deep'],
  ['a file in the place of a file', 'echo others >nothing', 'nothing'],
  [
    'a link in the place of a directory',
    'mkdir ../aside; echo others >../aside/deep; ln -s ../aside d',
    'd/deep',
  ],
])('%s that appears meanwhile is not written over, and all goes back', async ([, script, path]) => {
  using others = beforePlacing(script);
  await using harness = await withRepositories(['app'], { env: others.env });
  const { there } = await gone(harness);
  others.arm(harness.root);
  const { report } = await harness.rollback(there);
  expect(others.isArmed()).toBe(false);
  expect(report.outcome).not.toBe('applied');
  expect(readFileSync(`${harness.root}/app/${path}`, 'utf8')).toBe('others\n');
  expect(existsSync(`${harness.root}/app/run`)).toBe(false);
  harness.sh('rm -rf app aside');
  await harness.capture();
  await applies(harness, there);
});

test('an empty directory that appears meanwhile is no obstacle', async () => {
  using others = beforePlacing('mkdir d');
  await using harness = await withRepositories(['app'], { env: others.env });
  const { there, before } = await gone(harness);
  others.arm(harness.root);
  await applies(harness, there);
  expect(world(harness, ['app'])).toEqual(before);
});

always.runIf(process.getuid?.() === 0)(
  'a place that hands on its group hands it on to all that comes',
  async () => {
    await using harness = await withRepositories(['app']);
    harness.sh(
      'chgrp 12345 . && chmod g+s . && mkdir other && mv app/.git app/f.txt other && rm -rf app && mv other app',
    );
    const { there, before } = await gone(harness);
    await applies(harness, there);
    expect(world(harness, ['app'])).toEqual(before);
    expect(
      harness.sh('find app -name .git -prune -o -name .agent-shadow -prune -o ! -group 12345 -print'),
    ).toBe('');
  },
);

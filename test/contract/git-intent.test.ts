/** Entries of `git add -N`, and stat data of the index: they come back as they were, whatever became of their files. */
import { expect, test } from 'vitest';
import { applies, withRepositories, world } from '../support/git-repositories.ts';

test.each([
  ['whose file is deleted', 'echo n > n; git add -N n; rm n'],
  ['whose file is a directory now', 'echo n > n; git add -N n; rm n; mkdir n; echo in > n/in'],
  ['whose file is a link now', 'echo n > n; git add -N n; rm n; ln -s f.txt n'],
  ['of a link', 'ln -s f.txt n; git add -N n'],
  ['whose file is executable now', 'echo n > n; git add -N n; chmod +x n'],
  ['of an executable file that is gone', 'echo n > n; chmod +x n; git add -N n; rm n'],
  ['that is ignored', 'echo n > n; git add -N n; echo n > .gitignore'],
  ['in a directory that is gone', 'mkdir d; echo n > d/n; git add -N d/n; rm -r d'],
  [
    'beside a conflict',
    'git checkout -qb side; echo s > f.txt; git commit -qam s; git checkout -q main; echo m > f.txt; git commit -qam m; git merge side >/dev/null || :; echo n > n; git add -N n; rm n',
  ],
])('an intent to add %s', async (_what, make) => {
  await using harness = await withRepositories(['app']);
  harness.sh(make, 'app');
  const before = world(harness, ['app']);
  const first = await harness.capture();
  harness.sh(
    'git reset -q --hard; rm -rf n d .gitignore; echo more > more; git add more; git commit -qm more',
    'app',
  );
  const after = world(harness, ['app']);
  const second = await harness.capture();
  await applies(harness, first);
  expect(world(harness, ['app'])).toEqual(before);
  await applies(harness, second);
  expect(world(harness, ['app'])).toEqual(after);
  expect((await harness.rehydrate(first)).problems).toEqual([]);
  expect(world(harness, ['app'])).toEqual(before);
  expect(harness.sh('git fsck 2>&1 | grep -v "^dangling\\|^notice" || :', 'app')).toBe('');
});

test('git status shows after a rollback over line-end attributes what it showed before', async () => {
  await using harness = await withRepositories(['app']);
  // A file whose bytes are those of its entry, and which the attributes would write in another way.
  harness.sh(
    'printf "a\\r\\nb\\r\\n" > crlf; echo plain > plain; git add -A; git commit -qm c; echo "* text=auto" > .gitattributes; git add .gitattributes; git commit -qm a; git status --short >/dev/null',
    'app',
  );
  const status = harness.sh('git status --short', 'app');
  expect(status).toBe('');
  const first = await harness.capture();
  harness.sh('printf "c\\r\\n" > crlf; echo other > plain; rm .gitattributes', 'app');
  await applies(harness, first);
  expect(harness.sh('git status --short', 'app')).toBe(status);
});

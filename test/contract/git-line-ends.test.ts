/** Rollbacks over other line ends: git is told that the files changed, and names none that is as it was committed. */
import { describe, expect } from 'vitest';
import { applies, withRepositories } from '../support/git-repositories.ts';
import { sampledTest } from '../support/sampled-test.ts';

const test = sampledTest('git-line-ends', 6);

const MAKE = `git init -q -b main .; git config core.autocrlf false; mkdir src
printf 'a\\nb\\n' > a.txt; printf 'c\\nd\\n' > src/c.txt; : > empty; printf 'x\\0\\n' > binary
printf 'u\\n' > assumed; printf 's\\n' > skipped; git add -A; git commit -qm one`;

const AGAIN = 'rm a.txt src/c.txt; git checkout -q -- a.txt src/c.txt';
const ATTRIBUTES = `echo '*.txt text eol=crlf' > .gitattributes; git add .gitattributes`;

/** What git says without a write, so that it is what a user finds. */
const STATUS = 'git --no-optional-locks status --porcelain';

describe('after a rollback git names the files that differ, and no others', () => {
  test.for([
    ['settings that convert', `git config core.autocrlf true; ${AGAIN}`],
    ['attributes that came', `${ATTRIBUTES}; git commit -qm attributes; ${AGAIN}`],
    ['attributes that nobody committed', `${ATTRIBUTES}; ${AGAIN}`],
    [
      'attributes below the top',
      `cd src; ${ATTRIBUTES}; git commit -qm x; rm c.txt; git checkout -q -- c.txt`,
    ],
    ['attributes outside the files', `echo '*.txt text eol=crlf' > .git/info/attributes; ${AGAIN}`],
    ['staged entries', `${ATTRIBUTES}; ${AGAIN}; echo new > n.txt; git add n.txt; git rm -q --cached binary`],
    [
      'entries with flags',
      `${ATTRIBUTES}; ${AGAIN}; git update-index --assume-unchanged assumed; git update-index --skip-worktree skipped; echo i > i.txt; git add -N i.txt`,
    ],
    ['a file that does differ', `${ATTRIBUTES}; ${AGAIN}; printf 'z\\r\\n' >> a.txt; echo e > empty`],
    [
      'a conflict',
      `${ATTRIBUTES}; git commit -qm x; ${AGAIN}
      git checkout -qb o; printf 'o\\n' > binary; git commit -qam o; git checkout -q main; printf 'm\\n' > binary; git commit -qam m; git merge -q o || true`,
    ],
    [
      'a split index',
      `git config splitIndex.maxPercentChange 1; git update-index --split-index; ${ATTRIBUTES}; git commit -qm x; ${AGAIN}`,
    ],
    [
      'many files',
      `mkdir many; for i in {1..150}; do printf '%s\\n' $i > many/$i.txt; done; git add -A; git commit -qm many; ${ATTRIBUTES}; git commit -qm x; rm many/*; git checkout -q -- many; ${AGAIN}`,
    ],
  ])('%s', async ([, change]) => {
    await using harness = await withRepositories(['app'], {}, MAKE);
    const before = harness.sh(STATUS, 'app');
    const first = await harness.capture();
    harness.sh(change, 'app');
    const after = harness.sh(STATUS, 'app');
    const { undo } = await applies(harness, first);
    expect(harness.sh(STATUS, 'app')).toBe(before);
    expect(harness.sh('cat a.txt src/c.txt', 'app')).toBe('a\nb\nc\nd\n');
    await applies(harness, undo);
    expect(harness.sh(STATUS, 'app')).toBe(after);
    expect(harness.sh('cat src/c.txt', 'app')).toBe('c\r\nd\r\n');
    await applies(harness, first);
    expect(harness.sh(STATUS, 'app')).toBe(before);
  });

  for (const [what, come, go] of [
    ['settings', 'git config core.autocrlf true', 'git config core.autocrlf false'],
    ['attributes', "echo '*.txt text eol=crlf' > .git/info/attributes", 'rm .git/info/attributes'],
  ] as const)
    test(`${what} that are gone by then`, async () => {
      await using harness = await withRepositories(['app'], {}, MAKE);
      const first = await harness.capture();
      harness.sh(`${come}; ${AGAIN}`, 'app');
      await harness.capture();
      harness.sh(go, 'app');
      await applies(harness, first);
      expect(harness.sh(STATUS, 'app')).toBe('');
    });

  test('an index that another process wrote since the capture', async () => {
    await using harness = await withRepositories(['app'], {}, MAKE);
    const first = await harness.capture();
    harness.sh(`${ATTRIBUTES}; git commit -qm x; ${AGAIN}`, 'app');
    const after = harness.sh(STATUS, 'app');
    const { undo } = await applies(harness, first);
    harness.sh('touch -d "1 hour ago" a.txt; git status', 'app');
    await applies(harness, undo);
    expect(harness.sh(STATUS, 'app')).toBe(after);
  });
});

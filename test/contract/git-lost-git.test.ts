/** Repositories that have no .git any more, or one that lost what captures were made on. */
import { existsSync } from 'node:fs';
import { describe, expect } from 'vitest';
import { files } from '../support/fingerprint.ts';
import { applies, withTwoFiles, world } from '../support/git-repositories.ts';
import { replacedCommand } from '../support/placing.ts';
import { sampledTest } from '../support/sampled-test.ts';

const test = sampledTest('git-lost-git', 6);

const INNER = 'git init -q -b main sub; cd sub; echo s > s; git add s; git commit -qm s';

describe('a repository whose .git was deleted', () => {
  test('comes back without it, also around another one', async () => {
    await using harness = await withTwoFiles(['app']);
    await harness.capture();
    harness.sh(`${INNER}; rm -rf ../.git`, 'app');
    const before = [...files(harness.root), ...world(harness, ['app/sub'])];
    const second = await harness.capture();
    harness.sh('rm -rf app');
    const { undo } = await applies(harness, second);
    expect([...files(harness.root), ...world(harness, ['app/sub'])]).toEqual(before);
    expect(existsSync(`${harness.root}/app/.git`)).toBe(false);
    await applies(harness, undo);
    expect(files(harness.root)).toEqual([]);
  });

  test('goes again when one inside it cannot be made', async () => {
    using failing = replacedCommand(
      'git',
      '[[ $* == *"init -q --bare"* && "$* ${GIT_DIR-}" == */0.git* ]] || exec "$real" "$@"\nexit 1\n',
    );
    await using harness = await withTwoFiles(['app'], { env: failing.env });
    await harness.capture();
    harness.sh(`${INNER}; rm -rf ../.git`, 'app');
    const second = await harness.capture();
    harness.sh('rm -rf app; mkdir other; echo o > other/o');
    const before = files(harness.root);
    failing.arm();
    expect((await harness.rollback(second)).report.outcome).toBe('reverted');
    expect(files(harness.root)).toEqual(before);
  });
});

const NEW = 'git init -q -b main tree; cd tree';
/** Single objects that stay, so many that every directory of objects has one. */
const KEEP =
  'git config gc.auto 0; (mkdir ../kept; cd ../kept; seq 3000 | split -l 1 -a 3); git update-ref refs/heads/kept $(git commit-tree -m kept $(ls ../kept/* | git hash-object -w --stdin-paths | cat -n | sed "s/ *\\([0-9]*\\)\\t\\(.*\\)/100644 blob \\2\\t\\1/" | git mktree)); rm -r ../kept';
const LEND =
  'git clone -q --bare . ../other; realpath ../other/objects > .git/objects/info/alternates; rm -r .git/objects/??';
const TAKE_BACK = 'git update-ref -d HEAD; git rm -rq --cached .; git reflog expire --all --expire=now';

interface Loss {
  name: string;
  /** Makes the repository, and goes there. */
  begin: string;
  /** After its first commit. */
  finish: string;
  lose: string;
}

/** What takes objects away that captures borrow. The files stay as they are, and are old enough that git does not read them again. */
const LOSSES: Loss[] = [
  {
    name: 'a git directory elsewhere that was deleted',
    begin: 'git init -q -b main --separate-git-dir store tree; cd tree',
    finish: ':',
    lose: 'rm -rf ../store',
  },
  { name: 'a .git that was deleted', begin: NEW, finish: ':', lose: 'rm -rf .git' },
  { name: 'a .git that was made anew', begin: NEW, finish: ':', lose: 'rm -rf .git; git init -q -b main' },
  {
    name: 'a commit that was taken back and collected',
    begin: NEW,
    finish: ':',
    lose: `${TAKE_BACK}; git gc -q --prune=now`,
  },
  {
    name: 'a commit that was taken back and pruned beside others',
    begin: `${NEW}; ${KEEP}`,
    finish: ':',
    lose: `${TAKE_BACK}; git prune --expire=now`,
  },
];

/** Git cannot use the repository itself any more. */
const LENT: Loss = {
  name: 'objects of another repository that was deleted',
  begin: NEW,
  finish: LEND,
  lose: 'rm -rf ../other',
};

describe('captures on objects that are gone', () => {
  test.for([...LOSSES, LENT])('$name: one that the target does not have', async ({ begin, finish, lose }) => {
    await using harness = await withTwoFiles(['app']);
    const first = await harness.capture();
    harness.sh(
      `${begin}; mkdir d; echo s > d/s; echo t > t; touch -d yesterday d/s t; git add .; git commit -qm s; ${finish}`,
    );
    await harness.capture();
    harness.sh(lose, 'tree');
    const after = files(harness.root);
    const { undo } = await applies(harness, first);
    expect(existsSync(`${harness.root}/tree`)).toBe(false);
    harness.sh('rm -rf .agent-shadow');
    await applies(harness, undo);
    expect(files(harness.root)).toEqual(after);
  });

  test.for(LOSSES)('$name: one that changed beside them', async ({ begin, finish, lose }) => {
    await using harness = await withTwoFiles(['app']);
    harness.sh(
      `${begin}; mkdir d; echo s > d/s; echo t > d/t; touch -d yesterday d/s; git add .; git commit -qm s; ${finish}; echo new > d/t`,
    );
    const first = await harness.capture();
    harness.sh('echo other > d/t; touch -d today d/t; git add d/t; git commit -qm t', 'tree');
    await harness.capture();
    harness.sh(lose, 'tree');
    const after = files(harness.root);
    const { undo } = await applies(harness, first, { filesOnly: true });
    expect(harness.sh('cat d/s d/t', 'tree')).toBe('s\nnew\n');
    await applies(harness, undo, { filesOnly: true });
    expect(files(harness.root)).toEqual(after);
  });
});

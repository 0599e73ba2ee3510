/** Entries of `git add -N`, and stat data of the index: they come back as they were, whatever became of their files. */
import { expect } from 'vitest';
import { applies, goesBackAndForth, ONE_FILE, withRepositories, world } from '../support/git-repositories.ts';
import { inTurn } from '../support/sampled-test.ts';

const test = inTurn('git-intent');

/** Beside a conflict, one entry for each thing that may have become of its file. */
const INTENTS = `git checkout -qb side; echo s > f.txt; git commit -qam s; git checkout -q main
echo m > f.txt; git commit -qam m; git merge side >/dev/null || :
intend() { echo n > $1 && git add -N $1; }
intend deleted; rm deleted
intend directory; rm directory; mkdir directory; echo in > directory/in
intend link; rm link; ln -s f.txt link
intend executable; chmod +x executable
intend ignored; echo ignored > .gitignore
mkdir gone; intend gone/n; rm -r gone
ln -s f.txt of-a-link; git add -N of-a-link
echo n > was-executable; chmod +x was-executable; git add -N was-executable; rm was-executable`;

test('intents to add come back, whatever became of their files', async () => {
  await using harness = await withRepositories(['app']);
  harness.sh(INTENTS, 'app');
  expect(harness.sh('git diff --name-only --diff-filter=A | wc -l', 'app').trim()).not.toBe('0');
  const work =
    'git reset -q --hard; git clean -qfd -e .agent-shadow; echo more > more; git add more; git commit -qm more';
  const { looked, first } = await goesBackAndForth(
    harness,
    () => harness.sh(work, 'app'),
    ['app'],
    ['app'],
    true,
  );
  expect((await harness.rehydrate(first)).problems).toEqual([]);
  expect(world(harness, ['app'])).toEqual(looked);
  expect(harness.sh('git fsck 2>&1 | grep -v "^dangling\\|^notice" || :', 'app')).toBe('');
});

/** Where the only entries are intents, git never wrote the empty blob, nor a tree. */
test.each([
  ['no commit', 'git init -q -b main .'],
  ['an empty commit', 'git init -q -b main .; git commit -q --allow-empty -m e'],
  ['another object format', 'git init -q -b main --object-format=sha256 .; git commit -q --allow-empty -m e'],
])('a repository with %s and intents alone rehydrates whole', async (_name, make) => {
  await using harness = await withRepositories(['app'], {}, make);
  harness.sh(
    'intend() { echo n > $1 && git add -N $1; }; intend there; intend deleted; rm deleted; intend x; chmod +x x; intend d; rm d; mkdir d; echo in > d/in; intend l; rm l; ln -s there l; mkdir empty; : > nothing; git add -N nothing',
    'app',
  );
  const before = world(harness, ['app']);
  const status = () => harness.sh('git status --porcelain=v2 --branch --untracked-files=all', 'app');
  const [shown, staged] = [status(), harness.sh('git diff --raw', 'app')];
  const first = await harness.capture();
  expect(first.report.failures).toEqual([]);
  expect((await harness.rehydrate(first)).problems).toEqual([]);
  expect(world(harness, ['app'])).toEqual(before);
  expect([status(), harness.sh('git diff --raw', 'app')]).toEqual([shown, staged]);
  expect(harness.sh('git fsck --full --strict 2>&1 | grep -v "^dangling\\|^notice" || :', 'app')).toBe('');
  // And the agent can go on with it.
  harness.sh('git add -A; git commit -qm all; git fsck --strict', 'app');
  expect(harness.sh('git status --porcelain', 'app')).toBe('');
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

/** What git tells without looking for itself whether files changed, as `git merge --abort` and others ask it. */
const KNOWN = 'git diff-files --exit-code; git diff-index --quiet HEAD';

test('an index that a rollback or a rehydrate writes knows the files', async () => {
  await using harness = await withRepositories(['app', 'many'], {}, `mkdir d; echo g > d/g; ${ONE_FILE}`);
  harness.sh(
    'for i in {1..120}; do echo $i > d/$i; done; git add .; git commit -qm many; echo u > untracked',
    'many',
  );
  const known = () => harness.sh(`for r in app many; do (cd $r; ${KNOWN}); done`);
  known();
  const first = await harness.capture();
  harness.sh('echo three > f.txt; git commit -qam three; rm d/g', 'app');
  harness.sh('git rm -q --cached f.txt; rm d/*; echo more > untracked', 'many');
  await applies(harness, first);
  known();
  expect((await harness.rehydrate(first)).problems).toEqual([]);
  known();
});

test('a merge and a pick that come back can be aborted', async () => {
  const make = `echo g > g; ${ONE_FILE}; git checkout -qb side; echo s > f.txt; echo s > g; echo s > new; git add .; git commit -qm s; git checkout -q main; echo m > f.txt; git commit -qam m`;
  await using harness = await withRepositories(['merge', 'pick'], {}, make);
  harness.sh('git merge side >/dev/null || :', 'merge');
  harness.sh('git cherry-pick side >/dev/null 2>&1 || :', 'pick');
  const first = await harness.capture();
  const abort = 'git -C merge merge --abort; git -C pick cherry-pick --abort';
  harness.sh('echo x > merge/g; echo x > pick/f.txt');
  await applies(harness, first);
  harness.sh(abort);
  const second = await harness.capture();
  await applies(harness, first);
  harness.sh(abort);
  expect(harness.sh('git -C merge status --short; git -C pick status --short')).toBe('');
  await applies(harness, second);
  expect((await harness.rehydrate(first)).problems).toEqual([]);
  harness.sh(abort);
});

test('a copy of a repository with an empty index is whole', async () => {
  await using harness = await withRepositories(
    ['app'],
    {},
    'git init -q -b main .; echo a > f; git add f; git rm -q --cached f',
  );
  const first = await harness.capture();
  expect((await harness.rehydrate(first)).problems).toEqual([]);
  expect(harness.sh('git fsck --full --strict 2>&1 | grep -v "^notice" || :', 'app')).toBe('');
});

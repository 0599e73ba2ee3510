/** The stash is in no checkpoint. What of it was there at one, and is not there after a restore to it, is said. */
import { expect } from 'vitest';
import type { RestoreReport } from '../../core/checkpoint/ports/restore.ts';
import { files } from '../support/fingerprint.ts';
import type { Harness } from '../support/git-harness.ts';
import { applies, withTwoFiles, world } from '../support/git-repositories.ts';
import { inTurn } from '../support/sampled-test.ts';

const test = inTurn('git-stash');

const stash = (harness: Harness, name: string, directory = 'app'): string =>
  harness.sh(`echo ${name} >> a.txt; git stash push -qm ${name}; git rev-parse stash@{0}`, directory).trim();

const gone = (ids: string[], path = 'app'): string =>
  `${path}: the stash is in no checkpoint, and these of its entries are gone since: ${ids.join(' ')}. "git stash apply ID" brings one back while git has it`;
const notHere = (ids: string[], path = 'app'): string =>
  `${path}: the stash is in no checkpoint, and these of its entries do not come with it: ${ids.join(' ')}`;

const warningsOf = ({ report }: { report: RestoreReport }): string[] => report.warnings;

test('work that was in the stash at the target and has left it since: plan and answer name it, and git brings it back', async () => {
  await using harness = await withTwoFiles(['app', 'lib']);
  const older = stash(harness, 'older');
  const newer = stash(harness, 'newer');
  const target = await harness.capture();
  harness.sh('git stash pop -q', 'app');
  expect(warningsOf(await harness.rollback(target, { dryRun: true }))).toEqual([gone([newer])]);
  const { undo, report } = await applies(harness, target);
  expect(report.warnings).toEqual([gone([newer])]);
  expect(harness.sh('cat a.txt; git stash list --format=%H', 'app')).toBe(`one\n${older}\n`);
  harness.sh(`git stash apply -q ${newer}`, 'app');
  expect(harness.sh('cat a.txt', 'app')).toBe('one\nnewer\n');
  expect(warningsOf(await applies(harness, undo)), 'it was not there then').toEqual([]);
});

test('an entry in the middle is missed, one that came since is not, and files alone have none', async () => {
  await using harness = await withTwoFiles(['app']);
  stash(harness, 'first');
  const dropped = stash(harness, 'second');
  stash(harness, 'third');
  const target = await harness.capture();
  stash(harness, 'since');
  expect(warningsOf(await harness.rollback(target, { dryRun: true }))).toEqual([]);
  harness.sh('git stash drop -q stash@{2}; echo more > b.txt', 'app');
  expect(warningsOf(await harness.rollback(target, { dryRun: true, filesOnly: true }))).toEqual([]);
  expect(warningsOf(await applies(harness, target))).toEqual([gone([dropped])]);
});

test('of many entries a capture names the ten newest', async () => {
  await using harness = await withTwoFiles(['app']);
  const ids = Array.from({ length: 12 }, (_, index) => stash(harness, `entry-${index}`)).toReversed();
  const target = await harness.capture();
  expect(target.repositories[0]?.stash).toEqual(ids.slice(0, 10));
  harness.sh('git stash clear; echo more > b.txt', 'app');
  expect(warningsOf(await applies(harness, target))).toEqual([gone(ids.slice(0, 10))]);
  const now = await harness.capture();
  expect(now.repositories[0]).not.toHaveProperty('stash');
});

test('a fresh sandbox has none of it', async () => {
  await using harness = await withTwoFiles(['app', 'lib']);
  const id = stash(harness, 'work');
  const target = await harness.capture();
  const report = await harness.rehydrate(target);
  expect([report.outcome, report.warnings]).toEqual(['applied', [notHere([id])]]);
});

test('a repository that was deleted has lost it; one that a rollback took away comes back with it', async () => {
  await using harness = await withTwoFiles(['app']);
  const before = await harness.capture();
  harness.sh('git init -q -b main new && cd new && echo one > a.txt && git add -A && git commit -qm one');
  const id = stash(harness, 'work', 'new');
  const target = await harness.capture();
  await applies(harness, before);
  expect(warningsOf(await harness.rollback(target, { dryRun: true }))).toEqual([]);
  expect(warningsOf(await applies(harness, target))).toEqual([]);
  expect(harness.sh('git stash list --format=%H', 'new')).toBe(`${id}\n`);
  harness.sh('rm -rf new');
  expect(warningsOf(await harness.rollback(target, { dryRun: true }))).toEqual([notHere([id], 'new')]);
  expect(warningsOf(await applies(harness, target))).toEqual([notHere([id], 'new')]);
});

test('a worktree and a submodule that a rollback took away find theirs where git keeps it', async () => {
  await using harness = await withTwoFiles(['app', 'lib']);
  const before = await harness.capture();
  harness.sh('git worktree add -q ../side -b side', 'app');
  harness.sh('git -c protocol.file.allow=always submodule add -q "$PWD/../lib" part', 'app');
  const ids = [stash(harness, 'aside', 'side'), stash(harness, 'in-part', 'app/part')];
  expect(harness.sh('cat .git', 'app/part')).toBe('gitdir: ../.git/modules/part\n');
  const target = await harness.capture();
  await applies(harness, before);
  expect(warningsOf(await harness.rollback(target, { dryRun: true }))).toEqual([]);
  expect(warningsOf(await applies(harness, target))).toEqual([]);
  expect(harness.sh('git -C side stash list --format=%H; git -C app/part stash list --format=%H')).toBe(
    `${ids.join('\n')}\n`,
  );
  await applies(harness, before);
  harness.sh('git worktree prune; git stash clear', 'app');
  harness.sh('rm -rf .git/modules', 'app');
  const warnings = warningsOf(await harness.rollback(target, { dryRun: true }));
  const [aside = '', inPart = ''] = ids;
  expect(warnings.toSorted()).toEqual([notHere([inPart], 'app/part'), gone([aside]), gone([aside], 'side')]);
});

test('worktrees share it, and a list that git would wait for is not read', async () => {
  await using harness = await withTwoFiles(['app']);
  harness.sh('git worktree add -q ../side -b side', 'app');
  const id = stash(harness, 'work', 'side');
  const target = await harness.capture();
  harness.sh('git stash drop -q; echo more > b.txt', 'app');
  expect(warningsOf(await applies(harness, target)).toSorted()).toEqual([gone([id]), gone([id], 'side')]);
  harness.sh('rm -rf .git/logs/refs/stash; mkfifo .git/logs/refs/stash', 'app');
  const [app] = (await harness.capture()).repositories;
  expect([app?.state, app?.stash]).toEqual(['captured', undefined]);
});

const PUT_ASIDE = `echo two > a.txt; echo staged > staged; git add staged; echo new > new; mkdir -p out; echo '*.log' > .git/info/exclude; echo log > out/a.log`;
const ALL = 'git stash push -q --all';
const WITHOUT_OURS = `${ALL} -- ':(top,exclude).agent-shadow'`;

test('git stash --all without our folder, from a directory below: a checkpoint later it comes out again', async () => {
  await using harness = await withTwoFiles(['app']);
  harness.sh(PUT_ASIDE, 'app');
  const before = world(harness, ['app']);
  const first = await harness.capture();
  harness.sh(`mkdir below; cd below; ${WITHOUT_OURS}`, 'app');
  expect(harness.sh('ls; git status --porcelain', 'app')).toBe('a.txt\nbelow\nsrc\n');
  await harness.capture();
  harness.sh('rmdir below; git stash pop -q --index', 'app');
  expect(world(harness, ['app'])).toEqual(before);
  await applies(harness, first);
  expect(world(harness, ['app'])).toEqual(before);
});

test('git stash --all with our folder: all other files come out again, and checkpoints go on', async () => {
  await using harness = await withTwoFiles(['app']);
  harness.sh(PUT_ASIDE, 'app');
  const before = world(harness, ['app']);
  const filesThere = files(harness.root);
  const first = await harness.capture();
  harness.sh(ALL, 'app');
  await harness.capture();
  harness.sh('! git stash pop -q 2> ../../said; grep -q "agent-shadow.* already exists" ../../said', 'app');
  harness.sh('git stash drop -q', 'app');
  expect(files(harness.root)).toEqual(filesThere);
  harness.sh('echo later > later', 'app');
  expect((await harness.capture()).report.failures).toEqual([]);
  await applies(harness, first);
  expect(world(harness, ['app'])).toEqual(before);
});

// The program would have to keep its files where git does not list them.
test.fails('git stash --all takes nothing of ours along, so git stash pop succeeds', async () => {
  await using harness = await withTwoFiles(['app']);
  harness.sh(PUT_ASIDE, 'app');
  await harness.capture();
  harness.sh(ALL, 'app');
  await harness.capture();
  harness.sh('git stash pop -q', 'app');
});

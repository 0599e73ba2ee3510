/** Repositories that leave and come back: they are parked with all they hold, and nothing of them is lost. */
import { existsSync, readFileSync } from 'node:fs';
import { expect } from 'vitest';
import type { Harness } from '../support/git-harness.ts';
import { applies, withTwoFiles, world } from '../support/git-repositories.ts';
import { inTurn } from '../support/sampled-test.ts';

const test = inTurn('git-parking');

const NEW =
  'git init -q -b main new; cd new; echo n > n; mkdir -p d/e empty; echo d > d/e/f; git add .; git commit -qm n; git tag keep';

const thereAndBack = async (harness: Harness, first: Parameters<typeof applies>[1], names: string[]) => {
  const after = world(harness, names);
  const { undo } = await applies(harness, first);
  await applies(harness, undo);
  expect(world(harness, names)).toEqual(after);
};

test('one that was made since is parked and comes back, with what no capture holds', async () => {
  await using harness = await withTwoFiles(['app']);
  const first = await harness.capture();
  harness.sh(NEW);
  harness.sh('echo staged > n; git add n; echo later > n; chmod 600 d/e/f', 'new');
  await thereAndBack(harness, first, ['app', 'new']);
  expect(harness.sh('git tag', 'new')).toBe('keep\n');
});

test('a linked worktree goes with what its repository notes about it', async () => {
  await using harness = await withTwoFiles(['app']);
  const first = await harness.capture();
  harness.sh('git worktree add -q ../tree -b topic; echo w > ../tree/w', 'app');
  await thereAndBack(harness, first, ['app', 'tree']);
  expect(harness.sh('git branch --show-current; git worktree list | wc -l', 'tree')).toBe('topic\n2\n');
});

test('one at another path is told from it, and each comes back', async () => {
  await using harness = await withTwoFiles(['app']);
  const first = await harness.capture();
  harness.sh(NEW);
  const second = await harness.capture();
  await applies(harness, first);
  harness.sh('git init -q -b main new; cd new; echo other > n; git add n; git commit -qm other');
  const third = await harness.capture();
  const other = world(harness, ['new']);
  await applies(harness, first);
  await applies(harness, second);
  expect(harness.sh('git tag; cat n', 'new')).toBe('keep\nn\n');
  await applies(harness, first);
  await applies(harness, third);
  expect(world(harness, ['new'])).toEqual(other);
});

test('ignored files, and files that were there before it was a repository, stay', async () => {
  await using harness = await withTwoFiles(['app']);
  harness.sh('mkdir new; echo before > new/before');
  const first = await harness.capture();
  harness.sh('git init -q -b main .; echo "*.log" > .gitignore; echo precious > x.log; echo n > n', 'new');
  const { report } = await applies(harness, first);
  expect(report.warnings.join('\n')).toContain('1 file stays');
  expect(readFileSync(`${harness.root}/new/before`, 'utf8')).toBe('before\n');
  expect(readFileSync(`${harness.root}/new/x.log`, 'utf8')).toBe('precious\n');
  expect(existsSync(`${harness.root}/new/n`)).toBe(false);
});

test('a file in its place is named, and nothing is written', async () => {
  await using harness = await withTwoFiles(['app']);
  const first = await harness.capture();
  harness.sh(NEW);
  const second = await harness.capture();
  await applies(harness, first);
  harness.sh('echo x > new; echo two > app/a.txt');
  const { report } = await harness.rollback(second);
  expect([report.outcome, report.problems.map(({ kind }) => kind)]).toEqual(['refused', ['unsafe-path']]);
  expect(harness.sh('cat new app/a.txt')).toBe('x\ntwo\n');
});

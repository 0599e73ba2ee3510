/** One case of repositories, merged and reverted: what a rollback restores, a merge brings and a revert takes back. */
import { expect } from 'vitest';
import { casesOf, GIT_CASES, type GitCase, openCase, rootsIn, state } from './git-cases.ts';
import type { Harness, Snapshot } from './git-harness.ts';

/** Repositories that are there on one side alone. */
const COMING_AND_GOING = casesOf({
  'a repository that is born': {
    setup: 'true',
    damage: `git init -q -b main ../born; cd ../born; echo b > b; git add b; git commit -qm b; git switch -qc topic; echo c > c; chmod 600 c; mkdir hollow`,
  },
  'one that is born without commits': {
    setup: 'true',
    damage: `git init -q -b trunk ../born; echo b > ../born/b`,
  },
  'one that is born inside, where tracked files were': {
    setup: `mkdir pkg; echo p > pkg/p; git add -A; git commit -qm pkg`,
    damage: `cd pkg; git init -q -b main .; git add -A; git commit -qm in; echo q > q`,
  },
  'one that is gone': {
    setup: `git init -q -b main ../other; cd ../other; echo o > o; git add o; git commit -qm o; echo w > w`,
    damage: `rm -rf ../other; echo x > a.txt`,
  },
  'one inside that becomes plain files': {
    setup: `git init -q -b main pkg; cd pkg; echo o > o; git add o; git commit -qm o; echo w > w`,
    damage: `rm -rf pkg/.git pkg/.agent-shadow; git add -A; git commit -qm taken`,
  },
  'one that is renamed': {
    setup: `git init -q -b main ../other; cd ../other; echo o > o; git add o; git commit -qm o; echo w > w`,
    damage: `mv ../other ../renamed; echo w2 > ../renamed/w`,
  },
  'one that changes places with another': {
    setup: `for r in one two; do (git init -q -b $r ../$r; cd ../$r; echo $r > f; git add f; git commit -qm $r); done`,
    damage: `mv ../one ../x; mv ../two ../one; mv ../x ../two`,
  },
  'a repository without commits that gets the first one': {
    setup: `git init -q -b trunk ../fresh; echo f > ../fresh/f`,
    damage: `cd ../fresh; git add f; git commit -qm first; git switch -qc topic`,
  },
  'a branch that is orphaned': {
    setup: 'true',
    damage: `git switch -q --orphan void; echo v > v; git add v`,
  },
});

export const MERGE_CASES: readonly GitCase[] = [...GIT_CASES, ...COMING_AND_GOING];

const MINE = 'echo mine > zz-mine; mkdir zz-hollow; echo x > zz-run; chmod 750 zz-run';

const apply = async (harness: Harness, goal: Snapshot, name: string) => {
  const { report } = await harness.rollback(goal);
  expect([report.outcome, report.problems], name).toEqual(['applied', []]);
};

/** Merges, expects no conflict, and goes there. */
const mergeInto = async (
  harness: Harness,
  step: { base: Snapshot; theirs: Snapshot },
  name: string,
  own = false,
): Promise<void> => {
  const { report, merged } = await harness.compose([step], { own });
  expect({ conflicts: report.conflicts, failures: report.failures, missing: report.missing }, name).toEqual({
    conflicts: [],
    failures: [],
    missing: [],
  });
  await apply(harness, merged, name);
};

export const mergesAndReverts = async ({ setup, damage, options, survives }: GitCase): Promise<void> => {
  await using harness = await openCase({ setup, options });
  const looks = () => state(harness, survives);
  const atBase = looks();
  const base = await harness.capture();
  const before = rootsIn(harness);
  harness.sh(damage, 'app');
  const theirs = await harness.capture();
  const atTheirs = looks();
  const both = rootsIn(harness).filter((root) => before.includes(root));
  const mine = () => {
    for (const root of both) harness.sh(MINE, root);
  };
  mine();
  const atBoth = looks();

  await apply(harness, base, 'back');
  await harness.capture();
  await mergeInto(harness, { base, theirs }, 'into what stood still');
  expect(looks(), 'into what stood still: as the other side is').toEqual(atTheirs);
  await mergeInto(harness, { base: theirs, theirs: base }, 'taken back', true);
  expect(looks(), 'taken back: what a rollback restores').toEqual(atBase);

  mine();
  const atMine = looks();
  await harness.capture();
  await mergeInto(harness, { base, theirs }, 'into other work');
  expect(looks(), 'both are there').toEqual(atBoth);
  await harness.capture();
  await mergeInto(harness, { base: theirs, theirs: base }, 'reverted', true);
  expect(looks(), 'mine stays').toEqual(atMine);
  expect(harness.sh('ls ~ | grep OWNED || true'), 'nothing of the repository ran').toBe('');
};

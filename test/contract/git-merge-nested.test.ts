/** Merges where repositories lie inside others, and where linked worktrees share their branches. */
import { describe, expect } from 'vitest';
import { files, gitState } from '../support/fingerprint.ts';
import { createHarness, type Harness, type Snapshot } from '../support/git-harness.ts';
import { sampledTest } from '../support/sampled-test.ts';

const test = sampledTest('git-merge-nested', 3);

const BEGIN =
  'git init -q -b main r; cd r; mkdir d; echo f > d/f; echo a > a; git add -A; git commit -qm one';

const merging = async (
  begin: string,
  { ours, theirs }: { ours: string; theirs: string },
): Promise<{ harness: Harness; base: Snapshot; theirs: Snapshot } & AsyncDisposable> => {
  const harness = await createHarness();
  harness.sh(begin);
  const base = await harness.capture();
  harness.sh(theirs);
  const change = await harness.capture();
  const { report } = await harness.rollback(base);
  expect(report.problems).toEqual([]);
  harness.sh(ours);
  await harness.capture();
  return { harness, base, theirs: change, [Symbol.asyncDispose]: () => harness[Symbol.asyncDispose]() };
};

const NEST = 'git init -q -b main; echo y > y; git add -A; git commit -qm nested';

describe('what is a repository on one side and a directory on the other', () => {
  const CASES = [
    ['made there, a file here', 'echo new > r/d/new', `cd r/d; ${NEST}`, 'd/new'],
    ['made here, a file there', `cd r/d; ${NEST}`, 'echo new > r/d/new', 'd/new'],
    ['new there, new here', 'mkdir r/lib; echo x > r/lib/x', `mkdir r/lib; cd r/lib; ${NEST}`, 'lib/x'],
    ['new here, new there', `mkdir r/lib; cd r/lib; ${NEST}`, 'mkdir r/lib; echo x > r/lib/x', 'lib/x'],
  ] as const;
  for (const [name, ours, theirs, path] of CASES) {
    test(`${name}: the file is in conflict, and not lost`, async () => {
      await using at = await merging(BEGIN, { ours, theirs });
      const { harness, base } = at;
      const { report } = await harness.compose([{ base, theirs: at.theirs }]);
      expect(report.conflicts).toMatchObject([{ repository: 'r', path, kind: 'repository' }]);
    });
  }

  test('where only one side did something there, both come', async () => {
    await using at = await merging(BEGIN, { ours: 'echo o > r/o', theirs: `cd r/d; ${NEST}` });
    const { harness, base } = at;
    const { report, merged } = await harness.compose([{ base, theirs: at.theirs }]);
    expect(report.conflicts).toEqual([]);
    const applied = await harness.rollback(merged);
    expect([applied.report.outcome, applied.report.problems]).toEqual(['applied', []]);
    expect(harness.sh('cat r/o r/d/f r/d/y; git -C r/d log --format=%s')).toBe('o\nf\ny\nnested\n');
  });
});

test('work of a fork in several linked worktrees comes, each branch from the one that stands on it', async () => {
  await using harness = await createHarness();
  harness.sh(`${BEGIN}; git branch idle; git worktree add -q ../tree -b topic`);
  const base = await harness.capture();
  const commit = (name: string): string => `echo ${name} > ${name}; git add ${name}; git commit -qm ${name}`;
  // In a fork, each is a repository of its own. The same states are made here one after the other.
  harness.sh(`cd r; ${commit('main1')}; git branch fresh`);
  const one = await harness.capture();
  expect((await harness.rollback(base)).report.problems).toEqual([]);
  harness.sh(`cd tree; ${commit('topic1')}`);
  const two = await harness.capture();
  expect((await harness.rollback(base)).report.problems).toEqual([]);
  const pick = (from: Snapshot, path: string) => from.repositories.filter((state) => state.path === path);
  const theirs: Snapshot = {
    ...two,
    repositories: [...pick(one, 'r'), ...pick(two, 'tree')],
    chains: new Map([...two.chains, ['r', one.chains.get('r') ?? []]]),
  };
  harness.sh('echo o > r/o; echo p > tree/p');
  await harness.capture();
  const { report, merged } = await harness.compose([{ base, theirs }]);
  expect([report.conflicts, report.hostTaken.toSorted()]).toEqual([[], ['r', 'tree']]);
  const heads = () =>
    harness.sh("git -C r for-each-ref --format='%(refname:short) %(contents:subject)' refs/heads");
  const applied = await harness.rollback(merged);
  expect([applied.report.outcome, applied.report.problems]).toEqual(['applied', []]);
  expect(heads()).toBe('fresh main1\nidle one\nmain main1\ntopic topic1\n');
  expect(harness.sh('cat r/o r/main1 tree/p tree/topic1; git -C r status -s; git -C tree status -s')).toBe(
    'o\nmain1\np\ntopic1\n?? o\n?? p\n',
  );
  const state = () => [
    ...files(harness.root),
    ...['r', 'tree'].flatMap((path) => gitState(`${harness.root}/${path}`)),
  ];
  const there = state();

  // The checkpoint of the merge is restored from elsewhere as well.
  harness.sh(`cd r; ${commit('main2')}; cd ../tree; ${commit('topic2')}`);
  const again = await harness.rollback(merged);
  expect([again.report.outcome, again.report.problems]).toEqual(['applied', []]);
  expect(state()).toEqual(there);
  const back = await harness.rollback(again.undo);
  expect([back.report.outcome, back.report.problems]).toEqual(['applied', []]);
  expect(heads()).toContain('main main2');
});

test('a branch comes with one linked worktree, where the repository itself keeps its host state', async () => {
  await using at = await merging(`${BEGIN}; git worktree add -q ../tree -b topic`, {
    ours: 'echo o > r/o; git -C r add o',
    theirs: 'git -C tree branch fresh; echo p > tree/p; echo q > r/q',
  });
  const { harness, base } = at;
  const before = gitState(`${harness.root}/r`);
  const { report, merged } = await harness.compose([{ base, theirs: at.theirs }]);
  expect([report.conflicts, report.hostTaken, report.hostKept]).toEqual([[], ['tree'], ['r']]);
  const applied = await harness.rollback(merged);
  expect([applied.report.outcome, applied.report.problems]).toEqual(['applied', []]);
  expect(harness.sh("cat tree/p r/q; git -C r for-each-ref --format='%(refname:short)' refs/heads")).toBe(
    'p\nq\nfresh\nmain\ntopic\n',
  );
  const back = await harness.rollback(applied.undo);
  expect([back.report.outcome, back.report.problems]).toEqual(['applied', []]);
  expect(gitState(`${harness.root}/r`)).toEqual(before);
});

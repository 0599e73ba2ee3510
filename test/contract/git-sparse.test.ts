/** Partial checkouts: their rules come with the checkpoint, else git hides what happens to the files that they leave out. */
import { expect } from 'vitest';
import { hostLines } from '../../present/host-lines.ts';
import { createHarness, type Harness } from '../support/git-harness.ts';
import { applies, withTwoFiles, world } from '../support/git-repositories.ts';
import { sampledTest } from '../support/sampled-test.ts';

const test = sampledTest('git-sparse', 4);

const MAKE = `git init -q -b main .; mkdir in out; echo in > in/f; echo out > out/f; echo top > top; git add -A; git commit -qm one`;
const rules = (harness: Harness) =>
  harness.sh(
    'git sparse-checkout list 2>&1 || :; git ls-files -t; git config core.sparseCheckoutCone || :',
    'app',
  );

const PARTIAL = [
  ['directories', 'git sparse-checkout set --cone in'],
  ['a sparse index', 'git sparse-checkout set --cone --sparse-index in'],
  ['patterns', "git sparse-checkout set --no-cone '/*' '!out'"],
] as const;

test.for(PARTIAL)(
  'a copy of a partial checkout is one, and shows what happens to any file: %s',
  async ([, set]) => {
    await using harness = await createHarness();
    harness.sh(`mkdir -p app; cd app; ${MAKE}; ${set}`);
    const before = rules(harness);
    const first = await harness.capture();
    const report = await harness.rehydrate(first);
    expect([report.outcome, report.problems]).toEqual(['applied', []]);
    expect(rules(harness)).toBe(before);
    expect((await harness.capture()).repositories[0]?.meta).toBe(first.repositories[0]?.meta);
    harness.sh('mkdir -p out; echo changed > out/f', 'app');
    expect(harness.sh('git status --porcelain', 'app')).toBe(' M out/f\n');
    harness.sh('rm -rf out; git sparse-checkout disable', 'app');
    expect(harness.sh('cat out/f', 'app')).toBe('out\n');
  },
);

test.for(PARTIAL)(
  'a rollback brings the rules of a partial checkout back, and takes them away: %s',
  async ([, set]) => {
    await using harness = await createHarness();
    harness.sh(`mkdir -p app; cd app; ${MAKE}`);
    const states = [];
    for (const work of [
      'true',
      set,
      'git sparse-checkout set --cone out',
      'git sparse-checkout disable; echo new > out/f',
    ]) {
      harness.sh(work, 'app');
      states.push({
        snapshot: await harness.capture(),
        rules: rules(harness),
        looks: world(harness, ['app']),
      });
    }
    for (const at of [1, 3, 2, 0]) {
      const state = states[at];
      if (state === undefined) continue;
      await applies(harness, state.snapshot);
      expect(world(harness, ['app'])).toEqual(state.looks);
      if (at === 1 || at === 2) expect(rules(harness)).toBe(state.rules);
      harness.sh('mkdir -p out; echo changed >> out/f', 'app');
      expect(harness.sh('git status --porcelain', 'app')).toBe(' M out/f\n');
    }
  },
);

test('rules that came later go away where a file was flagged by hand', async () => {
  await using harness = await createHarness();
  harness.sh(`mkdir -p app; cd app; ${MAKE}; git update-index --skip-worktree out/f; echo mine > out/f`);
  const before = [...world(harness, ['app']), rules(harness)];
  const first = await harness.capture();
  harness.sh('git checkout -q -f; git sparse-checkout set --cone in', 'app');
  await applies(harness, first);
  expect([...world(harness, ['app']), rules(harness).replace('true\n', '')]).toEqual(before);
  expect(harness.sh('git status --porcelain', 'app')).toBe('');
});

test('the plan says that the rules of a partial checkout change, and for how many entries', async () => {
  await using harness = await createHarness();
  harness.sh(`mkdir -p app; cd app; ${MAKE}`);
  const first = await harness.capture();
  harness.sh("git sparse-checkout set --no-cone '/*' '!out'", 'app');
  const partialCheckout = { from: '/*\n!out\n', to: null };
  const { report, undo } = await harness.rollback(first, { dryRun: true });
  expect(report.repositories[0]?.host).toEqual({ branches: [], index: { entries: 1 }, partialCheckout });
  expect(hostLines(report.repositories[0]?.host)).toEqual([
    'index: 1 entry changed',
    'partial checkout: /*, !out to everything',
  ]);
  await applies(harness, first);
  const back = await harness.rollback(undo, { dryRun: true });
  expect(back.report.repositories[0]?.host).toMatchObject({
    partialCheckout: { from: null, to: '/*\n!out\n' },
  });
});

test('rules that cannot be written stay, and the rollback says so', async () => {
  await using harness = await createHarness();
  harness.sh(`mkdir -p app; cd app; ${MAKE}`);
  const first = await harness.capture();
  harness.sh('git sparse-checkout set --cone in; mv .git/info .git/kept; ln -s kept .git/info', 'app');
  const before = rules(harness);
  const { report } = await harness.rollback(first);
  expect(report.outcome).toBe('applied');
  expect(report.warnings).toContainEqual(expect.stringContaining('the rules of the partial checkout stay'));
  expect(rules(harness).split('\n')[0]).toBe(before.split('\n')[0]);
});

test('a partial checkout without rules, as a sparse-checkout that failed leaves it, has everything', async () => {
  await using harness = await withTwoFiles(['app']);
  harness.sh('git config core.sparseCheckout true; git config core.sparseCheckoutCone true', 'app');
  const before = world(harness, ['app']);
  const without = await harness.capture();
  harness.sh('git sparse-checkout set src; echo new > new', 'app');
  await applies(harness, without);
  expect(world(harness, ['app'])).toEqual(before);
  harness.sh('git reset -q --hard', 'app');
  expect(world(harness, ['app'])).toEqual(before);
});

/** A restore that broke off and that nobody finishes: what it wrote is put back, and what was made since stays. */
import { existsSync, readFileSync } from 'node:fs';
import { expect } from 'vitest';
import { createHarness, type Harness } from '../support/git-harness.ts';
import { world } from '../support/git-repositories.ts';
import { longTest, sampledTest } from '../support/sampled-test.ts';
import { chosenSeed } from '../support/sampling.ts';
import { COMING, REFS, RULES, settleKilled } from '../support/settle-killed.ts';

const NAMES = ['app', 'web'];

/** A third of them, others each time; all of them in `npm run test:long`. */
const test = sampledTest('git-settle', 5);

const twoStates = async (harness: Harness) => {
  for (const name of NAMES) {
    harness.sh(`mkdir -p ${name}`);
    harness.sh(
      'git init -q -b main .; for n in a b c d; do echo $n > $n; done; chmod 600 d; mkdir hollow; git add a b; git commit -qm one',
      name,
    );
  }
  const target = await harness.capture();
  for (const name of NAMES) {
    harness.sh(
      'git switch -qc topic; for n in a b c; do echo $n 2 > $n; done; rm d; rmdir hollow; echo new > e; mkdir void; git add a e; git commit -qm two; echo staged > a; git add a',
      name,
    );
  }
  const undo = await harness.capture();
  return { target, undo, atUndo: world(harness, NAMES) };
};

test('of which nothing was written: nothing is written, whatever was made since', async () => {
  await using harness = await createHarness();
  const { target, undo } = await twoStates(harness);
  harness.sh('echo mine > app/a; echo mine > web/other; rm web/c');
  const before = world(harness, NAMES);
  const { report } = await harness.settle(undo, target);
  expect(report).toMatchObject({ outcome: 'applied', settled: { reached: 0 } });
  expect(report.settled?.kept.toSorted()).toEqual(['app/a', 'web/c']);
  expect(world(harness, NAMES)).toEqual(before);
});

const MADE = 'git init -q -b main later; cd later; echo l > l; git add l; git commit -qm l';

test('tells what became of repositories that only one of the two states has', async () => {
  await using harness = await createHarness();
  harness.sh(
    `${MADE.replaceAll('later', 'gone')}; cd ..; git init -q -b main app; echo a > app/a; echo b > app/b`,
  );
  const target = await harness.capture();
  harness.sh(`rm -rf gone; ${MADE}; echo 2 > ../app/a; echo 2 > ../app/b`);
  const undo = await harness.capture();
  harness.sh('echo a > app/a');
  const { report } = await harness.settle(undo, target);
  expect(report).toMatchObject({ outcome: 'applied', problems: [], settled: { reached: 1 } });
  const told = report.repositories.map(({ path, action }) => [path, action]);
  expect(Object.fromEntries(told)).toEqual({ app: 'restored', gone: 'parked', later: 'unchanged' });
});

const WRITTEN = {
  little: 'echo a > app/a',
  most: 'for n in a b c d; do for r in app web; do echo $n > $r/$n; done; done; rm app/e web/e; chmod 600 */d',
};

for (const [much, mix] of Object.entries(WRITTEN))
  test(`that has written ${much} goes back: files, modes, empty directories and host state`, async () => {
    await using harness = await createHarness();
    const { target, undo, atUndo } = await twoStates(harness);
    harness.sh(mix);
    const { report } = await harness.settle(undo, target);
    expect(report.problems).toEqual([]);
    expect(report).toMatchObject({ outcome: 'applied', settled: { kept: [] } });
    expect(report.settled?.reached).toBeGreaterThan(0);
    expect(world(harness, NAMES)).toEqual(atUndo);
  });

test('that has written all of it goes back, too', async () => {
  await using harness = await createHarness();
  const { target, undo, atUndo } = await twoStates(harness);
  await harness.rollback(target);
  const { report } = await harness.settle(undo, target);
  expect(report).toMatchObject({ outcome: 'applied', problems: [], settled: { kept: [] } });
  expect(world(harness, NAMES)).toEqual(atUndo);
});

test('of whose undo something else takes the place is refused by name, until it is gone', async () => {
  await using harness = await createHarness();
  const { target, undo, atUndo } = await twoStates(harness);
  harness.sh('echo a > app/a; rm app/e; mkfifo app/e');
  const met = world(harness, NAMES);
  const { report } = await harness.settle(undo, target);
  expect(report).toMatchObject({ outcome: 'refused', problems: [{ path: 'app', kind: 'conflict' }] });
  expect(report.problems[0]?.message).toContain('e');
  expect(world(harness, NAMES)).toEqual(met);
  harness.sh('rm app/e');
  expect((await harness.settle(undo, target)).report).toMatchObject({ outcome: 'applied', problems: [] });
  expect(world(harness, NAMES)).toEqual(atUndo);
});

test('with work done since: it stays, the rest goes back', async () => {
  await using harness = await createHarness();
  const { target, undo, atUndo } = await twoStates(harness);
  // Half of the rollback, then an agent that worked on: on a planned path, beside it, and in new places.
  harness.sh(
    'echo a > app/a; echo b > app/b; echo mine > app/c; chmod 755 app/c; echo mine > app/f; mkdir -p app/hollow; echo in > app/hollow/in; mkdir app/mine; echo a > web/a; echo more >> web/e',
  );
  const { report } = await harness.settle(undo, target);
  expect(report.problems).toEqual([]);
  expect(report.outcome).toBe('applied');
  expect(report.settled?.kept.toSorted()).toEqual(['app/c', 'web/e']);
  const mine = (line: string): boolean =>
    / (app\/(c|f|hollow|mine)|web\/e)/.test(line) || /^(app|web): status/.test(line);
  const others = (lines: string[]): string[] => lines.filter((line) => !mine(line) && !/\?\?| M /.test(line));
  expect(others(world(harness, NAMES))).toEqual(others(atUndo));
  expect(readFileSync(`${harness.root}/app/c`, 'utf8')).toBe('mine\n');
  expect(harness.sh('stat -c %a c', 'app')).toBe('755\n');
  expect(readFileSync(`${harness.root}/app/hollow/in`, 'utf8')).toBe('in\n');
  expect(existsSync(`${harness.root}/app/mine`)).toBe(true);
  expect(readFileSync(`${harness.root}/web/e`, 'utf8')).toBe('new\nmore\n');
});

test('a commit made since stays, with its branch and its index; the files it did not touch go back', async () => {
  await using harness = await createHarness();
  const { target, undo } = await twoStates(harness);
  harness.sh(
    'echo a > a; git switch -qc since; echo mine > mine; git add mine; git commit -qm mine -- mine',
    'app',
  );
  const head = harness.sh('git rev-parse HEAD; git symbolic-ref HEAD', 'app');
  const { report } = await harness.settle(undo, target);
  expect(report).toMatchObject({ outcome: 'applied', problems: [] });
  expect(report.settled?.kept).toContain('app/.git (host)');
  expect(harness.sh('git rev-parse HEAD; git symbolic-ref HEAD', 'app')).toBe(head);
  expect(readFileSync(`${harness.root}/app/a`, 'utf8')).toBe('staged\n');
  expect(readFileSync(`${harness.root}/app/mine`, 'utf8')).toBe('mine\n');
});

test('branches of which half had moved go back, and those made or moved since stay', async () => {
  await using harness = await createHarness();
  const { target, undo } = await twoStates(harness);
  // As after the branches and before HEAD, in one; and work on another branch, in the other.
  harness.sh('git update-ref -d refs/heads/topic; git branch since main', 'app');
  harness.sh(
    'git switch -qc since main -f; git commit -qm since --allow-empty; git update-ref -d refs/heads/topic',
    'web',
  );
  const since = harness.sh('git rev-parse since', 'web');
  const { report } = await harness.settle(undo, target);
  expect(report).toMatchObject({ outcome: 'applied', problems: [] });
  expect(report.settled?.kept).not.toContain('app/.git (host)');
  expect(report.settled?.kept).toContain('web/.git (host)');
  const branches = (name: string) =>
    harness.sh('git branch --format="%(refname:short)"', name).trim().split('\n');
  const expected = ['main', 'since', 'topic'];
  expect([branches('app'), branches('web')]).toEqual([expected, expected]);
  expect(harness.sh('git symbolic-ref HEAD', 'app')).toBe('refs/heads/topic\n');
  expect(harness.sh('git symbolic-ref HEAD; git rev-parse HEAD', 'web')).toBe(`refs/heads/since\n${since}`);
});

test('objects that the sandbox lost since are brought again', async () => {
  await using harness = await createHarness();
  const { target, undo, atUndo } = await twoStates(harness);
  harness.sh('echo a > app/a; rm -rf app/.agent-shadow web/.agent-shadow');
  const { report } = await harness.settle(undo, target);
  expect(report).toMatchObject({ outcome: 'applied', problems: [], settled: { reached: 1 } });
  expect(world(harness, NAMES)).toEqual(atUndo);
});

test(
  'killed at some calls of git, with work done since: put back, and the work stays',
  async () => {
    const { deaths } = await settleKilled(14, 10);
    expect(deaths).toBeGreaterThan(0);
  },
  { timeout: 600_000 },
);

test(
  'killed at some calls of git while a repository comes inside another one: it is there whole, or not at all',
  async () => {
    const { deaths } = await settleKilled(9, 2, COMING);
    expect(deaths).toBeGreaterThan(0);
  },
  { timeout: 600_000 },
);

test('with work done since on many paths: the first are named, and the others counted', async () => {
  await using harness = await createHarness();
  const write = (text: string) =>
    harness.sh(`for ((n = 0; n < 70; n++)); do echo ${text} $n > f$n; done`, 'app');
  harness.sh('mkdir app && cd app && git init -q -b main .');
  write('one');
  const target = await harness.capture();
  write('two');
  const undo = await harness.capture();
  write('mine');
  harness.sh('for n in 1 2 3; do echo one $n > f$n; done', 'app');
  const { report } = await harness.settle(undo, target);
  expect(report.settled).toMatchObject({ reached: 3, keptNotListed: 17 });
  expect(report.settled?.kept).toHaveLength(50);
});

longTest(
  'killed at any call of git, with work done since: put back, and the work stays',
  async () => {
    const { deaths, written } = await settleKilled(2, chosenSeed() % 2);
    expect(deaths).toBeGreaterThan(15);
    expect(written).toBeGreaterThan(5);
    expect(written).toBeLessThan(deaths);
  },
  1_200_000,
);

longTest(
  'killed at any call of git while a repository comes inside another one: it is there whole, or not at all',
  async () => {
    const { deaths } = await settleKilled(1, 0, COMING);
    expect(deaths).toBeGreaterThan(12);
  },
  1_200_000,
);

longTest(
  'killed at any call of git among branches and operations: put back, and the work stays',
  async () => {
    const { deaths } = await settleKilled(3, chosenSeed() % 3, REFS);
    expect(deaths).toBeGreaterThan(12);
  },
  1_200_000,
);

longTest(
  'killed at any call of git among rules of partial checkouts: put back, and the work stays',
  async () => {
    const { deaths } = await settleKilled(9, chosenSeed() % 9, RULES);
    expect(deaths).toBeGreaterThan(7);
  },
  1_200_000,
);

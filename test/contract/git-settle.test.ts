/** A restore that broke off and that nobody finishes: what it left goes to one end, and what was made since stays. */
import { existsSync, readFileSync } from 'node:fs';
import { expect } from 'vitest';
import { createHarness, type Harness } from '../support/git-harness.ts';
import { world } from '../support/git-repositories.ts';
import { longTest, sampledTest } from '../support/sampled-test.ts';
import { chosenSeed } from '../support/sampling.ts';
import { REFS, RULES, settleKilled } from '../support/settle-killed.ts';

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
  const atTarget = world(harness, NAMES);
  for (const name of NAMES) {
    harness.sh(
      'git switch -qc topic; for n in a b c; do echo $n 2 > $n; done; rm d; rmdir hollow; echo new > e; mkdir void; git add a e; git commit -qm two; echo staged > a; git add a',
      name,
    );
  }
  const undo = await harness.capture();
  return { target, undo, atTarget, atUndo: world(harness, NAMES) };
};

test('of which nothing was written: nothing is written, whatever was made since', async () => {
  await using harness = await createHarness();
  const { target, undo } = await twoStates(harness);
  harness.sh('echo mine > app/a; echo mine > web/other; rm web/c');
  const before = world(harness, NAMES);
  const { report } = await harness.settle(undo, target);
  expect(report).toMatchObject({ outcome: 'applied', settled: { end: 'none', reached: 0 } });
  expect(report.settled?.kept.toSorted()).toEqual(['app/a', 'web/c']);
  expect(world(harness, NAMES)).toEqual(before);
});

const NEARER = [
  ['undo', 'echo a > app/a'],
  [
    'target',
    'for n in a b c d; do for r in app web; do echo $n > $r/$n; done; done; rm app/e web/e; chmod 600 */d',
  ],
] as const;

for (const [end, mix] of NEARER)
  test(`that is nearer to its ${end} goes there, files, modes, empty directories and host state`, async () => {
    await using harness = await createHarness();
    const { target, undo, atTarget, atUndo } = await twoStates(harness);
    harness.sh(mix);
    const { report } = await harness.settle(undo, target);
    expect(report.problems).toEqual([]);
    expect(report).toMatchObject({ outcome: 'applied', settled: { end, kept: [] } });
    expect(world(harness, NAMES)).toEqual(end === 'undo' ? atUndo : atTarget);
  });

for (const end of ['undo', 'target'] as const)
  test(`with work done since: it stays, the rest goes to the ${end}`, async () => {
    await using harness = await createHarness();
    const { target, undo, atTarget, atUndo } = await twoStates(harness);
    // Half of the rollback, then an agent that worked on: on a planned path, beside it, and in new places.
    harness.sh(
      'echo a > app/a; echo b > app/b; echo mine > app/c; chmod 755 app/c; echo mine > app/f; mkdir -p app/hollow; echo in > app/hollow/in; mkdir app/mine; echo a > web/a; echo more >> web/e',
    );
    const { report } = await harness.settle(undo, target, end);
    expect(report.problems).toEqual([]);
    expect(report).toMatchObject({ outcome: 'applied', settled: { end } });
    expect(report.settled?.kept.toSorted()).toEqual(['app/c', 'web/e']);
    const mine = (line: string): boolean =>
      / (app\/(c|f|hollow|mine)|web\/e)/.test(line) || /^(app|web): status/.test(line);
    const others = (lines: string[]): string[] =>
      lines.filter((line) => !mine(line) && !/\?\?| M /.test(line));
    expect(others(world(harness, NAMES))).toEqual(others(end === 'undo' ? atUndo : atTarget));
    expect(readFileSync(`${harness.root}/app/c`, 'utf8')).toBe('mine\n');
    expect(harness.sh('stat -c %a c', 'app')).toBe('755\n');
    expect(readFileSync(`${harness.root}/app/hollow/in`, 'utf8')).toBe('in\n');
    expect(existsSync(`${harness.root}/app/mine`)).toBe(true);
    expect(readFileSync(`${harness.root}/web/e`, 'utf8')).toBe('new\nmore\n');
  });

test('a commit made since stays, with its branch and its index; the files it did not touch go to the end', async () => {
  await using harness = await createHarness();
  const { target, undo } = await twoStates(harness);
  harness.sh(
    'echo a > a; git switch -qc since; echo mine > mine; git add mine; git commit -qm mine -- mine',
    'app',
  );
  const head = harness.sh('git rev-parse HEAD; git symbolic-ref HEAD', 'app');
  const { report } = await harness.settle(undo, target, 'undo');
  expect(report).toMatchObject({ outcome: 'applied', problems: [] });
  expect(report.settled?.kept).toContain('app/.git (host)');
  expect(harness.sh('git rev-parse HEAD; git symbolic-ref HEAD', 'app')).toBe(head);
  expect(readFileSync(`${harness.root}/app/a`, 'utf8')).toBe('staged\n');
  expect(readFileSync(`${harness.root}/app/mine`, 'utf8')).toBe('mine\n');
});

for (const end of ['undo', 'target'] as const)
  test(`branches of which half had moved go to the ${end}, and those made or moved since stay`, async () => {
    await using harness = await createHarness();
    const { target, undo } = await twoStates(harness);
    // As after the branches and before HEAD, in one; and work on another branch, in the other.
    harness.sh('git update-ref -d refs/heads/topic; git branch since main', 'app');
    harness.sh(
      'git switch -qc since main -f; git commit -qm since --allow-empty; git update-ref -d refs/heads/topic',
      'web',
    );
    const since = harness.sh('git rev-parse since', 'web');
    const { report } = await harness.settle(undo, target, end);
    expect(report).toMatchObject({ outcome: 'applied', problems: [], settled: { end } });
    expect(report.settled?.kept).not.toContain('app/.git (host)');
    expect(report.settled?.kept).toContain('web/.git (host)');
    const branches = (name: string) =>
      harness.sh('git branch --format="%(refname:short)"', name).trim().split('\n');
    const expected = end === 'undo' ? ['main', 'since', 'topic'] : ['main', 'since'];
    expect([branches('app'), branches('web')]).toEqual([expected, expected]);
    expect(harness.sh('git symbolic-ref HEAD', 'app')).toBe(
      `refs/heads/${end === 'undo' ? 'topic' : 'main'}\n`,
    );
    expect(harness.sh('git symbolic-ref HEAD; git rev-parse HEAD', 'web')).toBe(`refs/heads/since\n${since}`);
  });

test('a file that git had written half is nobody’s work', async () => {
  await using harness = await createHarness();
  harness.sh('mkdir app; cd app; git init -q -b main .; seq 1 9999 > big; echo x > x');
  const target = await harness.capture();
  harness.sh('seq 5 50000 > app/big; echo y > app/x; echo z > app/z');
  const undo = await harness.capture();
  const atUndo = world(harness, ['app']);
  harness.sh('seq 1 100 > app/big');
  const { report } = await harness.settle(undo, target);
  expect(report).toMatchObject({ outcome: 'applied', settled: { end: 'undo', kept: [] } });
  expect(world(harness, ['app'])).toEqual(atUndo);
});

test('objects that the sandbox lost since are brought again', async () => {
  await using harness = await createHarness();
  const { target, undo, atUndo } = await twoStates(harness);
  harness.sh('echo a > app/a; rm -rf app/.agent-shadow web/.agent-shadow');
  const { report } = await harness.settle(undo, target);
  expect(report).toMatchObject({ outcome: 'applied', problems: [], settled: { end: 'undo' } });
  expect(world(harness, NAMES)).toEqual(atUndo);
});

test(
  'killed at some calls of git, with work done since: settled at one end, and the work stays',
  async () => {
    const { deaths } = await settleKilled(71, 60);
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
  const { report } = await harness.settle(undo, target, 'target');
  expect(report.settled).toMatchObject({ end: 'target', reached: 3, keptNotListed: 17 });
  expect(report.settled?.kept).toHaveLength(50);
});

longTest(
  'killed at any call of git, with work done since: settled at one end, and the work stays',
  async () => {
    const { deaths, ends } = await settleKilled(3, chosenSeed() % 3);
    expect(deaths).toBeGreaterThan(20);
    expect(ends).toEqual(new Set(['none', 'undo', 'target']));
  },
  1_200_000,
);

longTest(
  'killed at any call of git among branches and operations: settled at one end, and the work stays',
  async () => {
    const { deaths } = await settleKilled(3, chosenSeed() % 3, REFS);
    expect(deaths).toBeGreaterThan(12);
  },
  1_200_000,
);

longTest(
  'killed at any call of git among rules of partial checkouts: settled at one end, and the work stays',
  async () => {
    const { deaths } = await settleKilled(9, chosenSeed() % 9, RULES);
    expect(deaths).toBeGreaterThan(7);
  },
  1_200_000,
);

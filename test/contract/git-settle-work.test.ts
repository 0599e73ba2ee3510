/** Work done after a restore that broke off stays and is named, also where it looks like something else. */
import { readFileSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { createHarness } from '../support/git-harness.ts';
import { world } from '../support/git-repositories.ts';

test.for([
  ['is empty', ': > app/big'],
  ['holds only the beginning of the target', 'seq 1 100 > app/big'],
] as const)(
  'a working file that %s is work: a restore gives files their names when they are whole',
  async ([, since]) => {
    await using harness = await createHarness();
    harness.sh('mkdir app; cd app; git init -q -b main .; seq 1 9999 > big; echo x > x');
    const target = await harness.capture();
    harness.sh('seq 5 50000 > app/big; echo y > app/x');
    const undo = await harness.capture();
    harness.sh(`echo x > app/x; ${since}`);
    const big = readFileSync(`${harness.root}/app/big`, 'utf8');
    const { report } = await harness.settle(undo, target);
    expect(report).toMatchObject({ outcome: 'applied', settled: { reached: 1, kept: ['app/big'] } });
    expect(readFileSync(`${harness.root}/app/big`, 'utf8')).toBe(big);
    expect(readFileSync(`${harness.root}/app/x`, 'utf8')).toBe('y\n');
  },
);

const MERGING = `git init -q -b main app; cd app; echo f > f; git add f; git commit -qm one; git switch -qc side
echo s > f; git commit -qam side; git switch -q main; echo m > f; git commit -qam main; git merge -q side || :`;

test('files of an operation are written in place: one of which only the beginning is there is nobody’s work', async () => {
  await using harness = await createHarness();
  harness.sh(MERGING);
  const message = `${harness.root}/app/.git/MERGE_MSG`;
  const whole = readFileSync(message, 'utf8');
  const target = await harness.capture();
  harness.sh('git merge --abort', 'app');
  const undo = await harness.capture();
  const atUndo = world(harness, ['app']);
  for (const [text, kept] of [
    [whole.slice(0, 7), []],
    ['', []],
    ['mine\n', ['app/.git (state)']],
  ] as const) {
    writeFileSync(message, text);
    const { report } = await harness.settle(undo, target);
    expect(report, text).toMatchObject({ outcome: 'applied', problems: [], settled: { kept } });
    if (kept.length === 0) expect(world(harness, ['app']), text).toEqual(atUndo);
    else expect(readFileSync(message, 'utf8')).toBe(text);
  }
});

/** The undo, the target, and what was made since of a path; what is named, and what stands there then. */
const IN_THE_WAY: Record<string, [string, string, string, string[], string]> = {
  'a directory in the place of a file': [
    'echo undo > a',
    ':',
    'rm a; mkdir a; echo mine > a/b',
    ['app/a', 'app/a/b'],
    'a/b:mine\n',
  ],
  'a directory deep in the place of a file': [
    'echo undo > a',
    ':',
    'rm a; mkdir -p a/b/c; echo mine > a/b/c/d; echo mine > a/e',
    ['app/a', 'app/a/b/c/d', 'app/a/e'],
    'a/b/c/d:mine\na/e:mine\n',
  ],
  'an empty directory in the place of a file': ['echo undo > a', ':', 'rm a; mkdir a', ['app/a'], ''],
  'a directory in a directory of the target': [
    'echo undo > a',
    'mkdir a; echo target > a/t',
    'rm a; mkdir a; echo target > a/t; echo mine > a/b',
    ['app/a', 'app/a/b'],
    'a/b:mine\n',
  ],
  'a directory in the place of a link': [
    'ln -s k a',
    ':',
    'rm a; mkdir a; echo mine > a/b',
    ['app/a', 'app/a/b'],
    'a/b:mine\n',
  ],
  'a file above a file': [
    'mkdir a; echo undo > a/b',
    ':',
    'rm -r a; echo mine > a',
    ['app/a', 'app/a/b'],
    'a:mine\n',
  ],
  'a link above files': [
    'mkdir -p a/b; echo undo > a/b/c; echo undo > a/d',
    ':',
    'rm -r a; ln -s k a',
    ['app/a', 'app/a/b/c', 'app/a/d'],
    'a:keep\n',
  ],
  'a file above a file, where the target has another one': [
    'mkdir a; echo undo > a/b',
    'echo target > a',
    'rm -r a; echo mine > a',
    ['app/a', 'app/a/b'],
    'a:mine\n',
  ],
};

test.for(Object.entries(IN_THE_WAY))(
  '%s, made since, stays: both are named, and the rest goes back',
  async ([, [undoing, targeting, since, kept, there]]) => {
    await using harness = await createHarness();
    const app = (script: string) => harness.sh(script, 'app');
    harness.sh(
      'mkdir app; cd app; git init -q -b main .; echo keep > k; echo x > x; git add k; git commit -qm one',
    );
    app(targeting);
    const target = await harness.capture();
    app(`rm -rf a; ${undoing}; echo undo > x`);
    const undo = await harness.capture();
    const settled = async () => {
      const { report } = await harness.settle(undo, target);
      expect(report).toMatchObject({ outcome: 'applied', problems: [] });
      return { ...report.settled, kept: report.settled?.kept.toSorted() };
    };
    app(`${since}; echo x > x`);
    expect(await settled()).toMatchObject({ kept });
    expect(app('test -e a; find a -type f -o -type l | sort | xargs -r grep -H . | sed "s/^[^a]*//"')).toBe(
      there,
    );
    expect(app('cat x')).toBe('undo\n');
    // Nothing is in the way any more.
    app('rm -rf a; echo x > x');
    if (targeting === ':') {
      expect(await settled()).toMatchObject({ kept: [] });
      expect(app('cat a 2>/dev/null || find a -type f | sort | xargs cat')).toMatch(/undo|keep/);
    }
  },
);

test.for([
  ['a file of the undo', 'echo undo > a.log', 'a.log'],
  ['a directory of the undo', 'mkdir a.log; echo undo > a.log/b', 'a.log'],
])('an ignored file made since in the place of %s stays, and is named', async ([, undone, path]) => {
  await using harness = await createHarness();
  harness.sh(
    'mkdir app; cd app; git init -q -b main .; echo "*.log" > .gitignore; echo x > x; git add .; git commit -qm one',
  );
  const target = await harness.capture();
  harness.sh(`${undone}; git add -f a.log; echo y > x; git commit -qam two`, 'app');
  const undo = await harness.capture();
  // As the restore left it, and then somebody works on.
  harness.sh('rm -r a.log; git reset -q --hard HEAD^; echo mine > a.log', 'app');
  const { report } = await harness.settle(undo, target);
  expect([report.outcome, report.problems]).toEqual(['applied', []]);
  expect(report.settled?.kept).toContain(`app/${path}`);
  expect(harness.sh('cat x a.log', 'app')).toBe('y\nmine\n');
});

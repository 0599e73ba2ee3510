/**
 * A commit is there and one that it comes from is not: a shallow clone that lost its boundary, a damaged store. Files are captured,
 * HEAD and branches are named as not captured, and rollbacks go on.
 */
import { expect } from 'vitest';
import { createHarness, type Harness, type Snapshot } from '../support/git-harness.ts';
import { applies, rebuilds, text, withRepositories, world } from '../support/git-repositories.ts';
import { inTurn } from '../support/sampled-test.ts';

const test = inTurn('git-lost-history');

const NAMED = [
  {
    path: 'app/.git',
    reason: expect.stringMatching(/^the history of HEAD or of a branch cannot be read: .*\b[0-9a-f]{40}\b/),
  },
];
const failuresOf = ({ report }: Snapshot) => report.failures;
const head = (harness: Harness): string => harness.sh('git rev-parse HEAD; git branch --show-current', 'app');

const ORIGIN = `git init -q -b main ../origin; cd ../origin; for i in 1 2 3; do echo $i > f.txt; git add -A; git commit -qm $i; done`;
const LOSE = 'rm -f .git/objects/$(git rev-parse HEAD~ | sed "s#..#&/#")';
const WAYS = [
  [
    'the boundary of a shallow clone',
    `${ORIGIN}; git clone -q --depth 1 "file://$PWD" ../projects/app`,
    'rm .git/shallow',
  ],
  [
    'a commit made since',
    ORIGIN_CLONE(),
    `for i in a b; do echo $i > f.txt; git commit -qam $i; done; ${LOSE}`,
  ],
  [
    'a commit of another branch',
    ORIGIN_CLONE(),
    `git checkout -qb other; for i in a b; do echo $i > f.txt; git commit -qam $i; done; ${LOSE}; git checkout -qf main`,
  ],
] as const;

function ORIGIN_CLONE() {
  return `${ORIGIN}; git clone -q "file://$PWD" ../projects/app`;
}

test.for(WAYS)(
  '%s is lost: files are captured, HEAD is named, and a rollback goes',
  async ([, make, lose]) => {
    await using harness = await createHarness();
    harness.sh(make);
    const started = head(harness);
    const history = harness.sh('git log --format=%s', 'app');
    const first = await harness.capture();
    harness.sh(lose, 'app');
    harness.sh('echo edited > f.txt; echo new > new.txt', 'app');
    const second = await harness.capture();
    expect(failuresOf(second)).toEqual(NAMED);
    expect(second.repositories).toMatchObject([{ path: 'app', state: 'captured', changed: true }]);
    const again = await harness.capture();
    expect(failuresOf(again)).toEqual(NAMED);
    expect(again.repositories).toMatchObject([{ changed: false, commit: second.repositories[0]?.commit }]);

    harness.sh('echo later > f.txt; rm new.txt', 'app');
    await applies(harness, second);
    expect([text(harness, 'app/f.txt'), text(harness, 'app/new.txt')]).toEqual(['edited\n', 'new\n']);
    const { undo } = await applies(harness, first);
    expect([text(harness, 'app/f.txt'), head(harness)]).toEqual(['3\n', started]);
    expect(harness.sh('git log --format=%s', 'app')).toBe(history);
    expect(failuresOf(await harness.capture())).toEqual([]);
    await applies(harness, undo);
    expect([text(harness, 'app/f.txt'), text(harness, 'app/new.txt')]).toEqual(['edited\n', 'new\n']);
    await rebuilds(harness, second);
    expect([text(harness, 'app/f.txt'), text(harness, 'app/new.txt')]).toEqual(['edited\n', 'new\n']);
  },
);

test('a session can begin there, and what comes back is captured again', async () => {
  await using harness = await withRepositories(['app']);
  harness.sh(
    `for i in a b; do echo $i > f.txt; git commit -qam $i; done; cp -r .git/objects ../..; ${LOSE}`,
    'app',
  );
  const first = await harness.capture();
  expect(failuresOf(first)).toEqual(NAMED);
  harness.sh('cp -rn ../../objects .git; echo edited > f.txt', 'app');
  const whole = world(harness, ['app']);
  const second = await harness.capture();
  expect(failuresOf(second)).toEqual([]);
  harness.sh('git reset -q --hard HEAD~', 'app');
  await applies(harness, second);
  expect(world(harness, ['app'])).toEqual(whole);
  await rebuilds(harness, second);
  expect(world(harness, ['app'])).toEqual(whole);
});

/** A shadow that lost some of its own objects: what the files and the store have is made and brought again (C7). */
import { expect } from 'vitest';
import { createHarness, type Harness, type Snapshot } from '../support/git-harness.ts';
import { applies, withRepositories, world } from '../support/git-repositories.ts';
import { afterPlacing } from '../support/placing.ts';
import { inTurn, sampledTest } from '../support/sampled-test.ts';
import { printedSeed, sampled } from '../support/sampling.ts';

const always = inTurn('git-lost-objects');
const test = sampledTest('git-lost-objects', 4);

const SHADOW = '.agent-shadow/session-s1';

/** Each state has other files, modes, an empty directory or a partial checkout of its own. */
const states = async (harness: Harness): Promise<{ snapshot: Snapshot; world: string[] }[]> => {
  harness.sh(
    'git init -q -b main app; cd app; mkdir -p d/e; for i in 1 2 3; do echo $i | tee f$i d/f$i d/e/f$i; done; git add -A; git commit -qm one',
  );
  const made = [];
  for (const change of [
    ':',
    'echo 2 > f1; mkdir empty',
    'echo 3 > d/f1; chmod 700 d/f2; git add d/f1',
    'echo 4 > d/e/f1; rm d/f3',
    "git sparse-checkout set --no-cone '/*' '!d/e/f2'",
  ]) {
    harness.sh(change, 'app');
    made.push({ snapshot: await harness.capture(), world: world(harness, ['app']) });
  }
  return made;
};

const goTo = async (harness: Harness, target: Snapshot): Promise<string> => {
  const { report } = await harness.rollback(target);
  expect(report.problems).toEqual([]);
  return report.outcome;
};

/** Half of all single objects, others for each seed. */
const loseHalf = (harness: Harness, seed: number): string =>
  harness.sh(
    `RANDOM=${seed % 32_768}; for file in ${SHADOW}/objects/??/*; do [ $((RANDOM % 2)) = 0 ] || rm -f "$file"; done; :`,
    'app',
  );

const SEED = printedSeed('lost objects');
const TOURS = Array.from({ length: 24 }, (_, index) => SEED + index);

always.for(sampled(TOURS, { every: 24, offset: SEED }))(
  'half of all objects are gone before each rollback, seed %i',
  async (seed) => {
    await using harness = await createHarness();
    const made = await states(harness);
    for (let step = 0; step < 4; step += 1) {
      const target = made[(seed * 7 + step * 5 + (seed >> (2 * step))) % made.length];
      if (target === undefined) throw new Error('no state');
      loseHalf(harness, seed * 31 + step);
      expect(await goTo(harness, target.snapshot)).toBe('applied');
      expect(world(harness, ['app'])).toEqual(target.world);
    }
  },
);

/** The state of its one repository, as a capture has it. */
const stateOf = ({ repositories }: Snapshot): { tree: string; meta: string } => {
  const { tree, meta } = repositories[0] ?? {};
  if (tree === undefined || meta === undefined) throw new Error('no state');
  return { tree, meta };
};

/** The state that stands. */
const presentOf = (made: readonly { snapshot: Snapshot }[]): { tree: string; meta: string } => {
  const last = made.at(-1);
  if (last === undefined) throw new Error('no state');
  return stateOf(last.snapshot);
};

/** The topmost tree is there, and tells nothing of those below it. */
test('a tree below the topmost one of the present files is gone', async () => {
  await using harness = await createHarness();
  const [first, , third] = await states(harness);
  if (first === undefined || third === undefined) throw new Error('no state');
  expect(await goTo(harness, third.snapshot)).toBe('applied');
  harness.sh(
    `id=$(git --git-dir=${SHADOW} rev-parse ${stateOf(third.snapshot).tree}:d); rm ${SHADOW}/objects/\${id:0:2}/\${id:2}`,
    'app',
  );
  const now = await harness.capture();
  expect(await goTo(harness, first.snapshot)).toBe('applied');
  expect(world(harness, ['app'])).toEqual(first.world);
  expect(await goTo(harness, now)).toBe('applied');
  expect(world(harness, ['app'])).toEqual(third.world);
});

test('a tree below the topmost one of the host’s index is gone before the first capture', async () => {
  await using harness = await createHarness();
  harness.sh(
    'git init -q -b main app; cd app; mkdir d; echo 1 > d/f; git add -A; git commit -qm one; echo 2 > d/f; git add d/f; id=$(git rev-parse $(git write-tree):d); rm .git/objects/${id:0:2}/${id:2}; echo 3 > d/f',
  );
  const before = world(harness, ['app']);
  const first = await harness.capture();
  expect(first.report.failures).toEqual([]);
  harness.sh('git reset -q --hard', 'app');
  expect(await goTo(harness, first)).toBe('applied');
  expect(world(harness, ['app'])).toEqual(before);
  expect((await harness.rehydrate(first)).outcome).toBe('applied');
  expect(world(harness, ['app'])).toEqual(before);
});

test('the tree of the present state is gone', async () => {
  await using harness = await createHarness();
  const made = await states(harness);
  const [first] = made;
  if (first === undefined) throw new Error('no state');
  harness.sh(`tree=${presentOf(made).tree}; rm ${SHADOW}/objects/\${tree:0:2}/\${tree:2}`, 'app');
  expect(await goTo(harness, first.snapshot)).toBe('applied');
  expect(world(harness, ['app'])).toEqual(first.world);
});

test.for(['host', 'modes', 'empty'])('of the target, the list %s is gone', async (name) => {
  await using harness = await createHarness();
  harness.sh(
    'git init -q -b main app; cd app; mkdir void; echo 1 > f; chmod 600 f; git add f; git commit -qm one; git branch side',
  );
  const looks = world(harness, ['app']);
  const first = await harness.capture();
  harness.sh(
    'git checkout -qb topic; git branch -D side; rmdir void; echo 2 > f; chmod 644 f; git commit -qam two',
    'app',
  );
  await harness.capture();
  const lost = `id=$(git --git-dir=${SHADOW} rev-parse ${stateOf(first).meta}:${name}); rm -v ${SHADOW}/objects/\${id:0:2}/\${id:2}`;
  expect(harness.sh(lost, 'app')).toContain('removed');
  expect(await goTo(harness, first)).toBe('applied');
  expect(world(harness, ['app'])).toEqual(looks);
});

test('the lists of the present state are gone', async () => {
  await using harness = await createHarness();
  const made = await states(harness);
  const [first] = made;
  if (first === undefined) throw new Error('no state');
  harness.sh(
    `for name in host modes empty; do id=$(git --git-dir=${SHADOW} rev-parse ${presentOf(made).meta}:$name); rm -f ${SHADOW}/objects/\${id:0:2}/\${id:2}; done`,
    'app',
  );
  expect(await goTo(harness, first.snapshot)).toBe('applied');
  expect(world(harness, ['app'])).toEqual(first.world);
});

test.for([
  ['another commit', 'sed -i "s/$(git rev-parse HEAD)/$(git rev-parse HEAD~1)/"'],
  ['other bytes', 'sed -i "1s/./\\xff/"'],
  ['nothing', 'truncate -s 0'],
] as const)('what the shadow remembers of the host has %s: git is asked', async ([, damage]) => {
  await using harness = await createHarness();
  harness.sh(
    'git init -q -b main app; cd app; echo 1 > f; git add f; git commit -qm one; git commit -q --allow-empty -m two',
  );
  await harness.capture();
  await harness.capture();
  const before = world(harness, ['app']);
  harness.sh(`${damage} ${SHADOW}/host-state.json`, 'app');
  const damaged = await harness.capture();
  harness.sh('git commit -q --allow-empty -m three', 'app');
  expect(await goTo(harness, damaged)).toBe('applied');
  expect(world(harness, ['app'])).toEqual(before);
});

const PRUNE = 'git reflog expire --expire=now --all; git gc -q --prune=now';

const ONE_AND_TWO =
  'git init -q -b main app; cd app; for n in one two; do echo $n > f; git add f; git commit -qm $n; done';

/** After a reset, ORIG_HEAD names the commit that git prunes, and the shadow has it since it came back once. */
test('a commit is pruned again after its rollback was undone', async () => {
  await using harness = await createHarness();
  harness.sh(ONE_AND_TWO);
  const before = world(harness, ['app']);
  const two = await harness.capture();
  harness.sh(`git reset -q --hard HEAD~1; ${PRUNE}`, 'app');
  const { undo } = await harness.rollback(two);
  expect(world(harness, ['app'])).toEqual(before);
  expect(await goTo(harness, undo)).toBe('applied');
  harness.sh(PRUNE, 'app');
  expect(harness.sh('git cat-file -t ORIG_HEAD 2>&1 || :', 'app')).toContain('fatal');
  expect(await goTo(harness, two)).toBe('applied');
  expect(world(harness, ['app'])).toEqual(before);
  expect(harness.sh('git fsck --no-dangling 2>&1; git log --format=%s', 'app')).toBe('two\none\n');
});

/** Git takes the word of its commit graph for a commit that is gone. */
test.for(['commit-graph write --reachable', 'commit-graph write --reachable --split'])(
  'the commit graph still has a commit that is gone: git %s',
  async (write) => {
    await using harness = await createHarness();
    harness.sh(`${ONE_AND_TWO}; git commit -q --allow-empty -m three; git ${write}`);
    const before = world(harness, ['app']);
    const three = await harness.capture();
    harness.sh(
      'git reset -q --hard HEAD~1; rm .git/ORIG_HEAD; git reflog expire --expire=now --all; git prune --expire=now',
      'app',
    );
    expect(await goTo(harness, three)).toBe('applied');
    expect(world(harness, ['app'])).toEqual(before);
    expect(harness.sh('git -c core.commitGraph=false log --format=%s', 'app')).toBe('three\ntwo\none\n');
  },
);

test('the list of empty directories is gone, and the rollback is to where everything stands', async () => {
  await using harness = await createHarness();
  const [, second] = await states(harness);
  if (second === undefined) throw new Error('no state');
  expect(await goTo(harness, second.snapshot)).toBe('applied');
  harness.sh(
    `id=$(git --git-dir=${SHADOW} rev-parse ${stateOf(second.snapshot).meta}:empty); rm ${SHADOW}/objects/\${id:0:2}/\${id:2}`,
    'app',
  );
  expect(await goTo(harness, second.snapshot)).toBe('applied');
  expect(world(harness, ['app'])).toEqual(second.world);
});

test('the lists of a host state that both states have are gone, and a file comes back', async () => {
  await using harness = await createHarness();
  const [, , before, now] = await states(harness);
  if (before === undefined || now === undefined) throw new Error('no state');
  expect(await goTo(harness, now.snapshot)).toBe('applied');
  const gone = harness.sh(
    `for id in $(git --git-dir=${SHADOW} ls-tree ${stateOf(now.snapshot).meta} | sed -n 's/.* blob \\([0-9a-f]*\\).*/\\1/p'); do rm -fv ${SHADOW}/objects/\${id:0:2}/\${id:2}; done`,
    'app',
  );
  expect(gone).not.toBe('');
  expect(await goTo(harness, before.snapshot)).toBe('applied');
  expect(world(harness, ['app'])).toEqual(before.world);
  expect(await goTo(harness, now.snapshot)).toBe('applied');
  expect(world(harness, ['app'])).toEqual(now.world);
});

always('contents that the host loses while they are restored are stored again', async () => {
  using others = afterPlacing('git prune --expire=now');
  await using harness = await withRepositories(['app'], { env: others.env });
  const make = (what: string) => `mkdir -p in; for i in {1..80}; do echo ${what} $i >in/$i; done`;
  harness.sh(`${make('one')}; git hash-object -w in/* >ids; sleep 0.2`, 'app');
  const first = await harness.capture();
  const before = world(harness, ['app']);
  const held = (git: string) =>
    harness.sh(`${git} cat-file --batch-check='%(objecttype)' <ids | sort | uniq -c`, 'app').trim();
  expect(held('git')).toBe('80 blob');
  expect(harness.sh(`ls ${SHADOW}/objects/pack`, 'app')).toBe('');
  harness.sh(`${make('two')}; git branch since; sleep 0.2`, 'app');
  const now = await harness.capture(first);
  others.arm();
  await applies(harness, first, { from: now });
  expect(others.isArmed()).toBe(false);
  expect(world(harness, ['app'])).toEqual(before);
  expect(held('git')).not.toContain('blob');
  expect(held(`git --git-dir=${SHADOW}`)).toBe('80 blob');
});

/**
 * Work in which rules for ignored files come and go, files grow and shrink over the limit, and git is told to track what it
 * ignores. What a checkpoint does not hold may have been there: no way back may delete it.
 */
import { existsSync } from 'node:fs';
import * as fc from 'fast-check';
import { expect } from 'vitest';
import { files, isOfBoth } from './fingerprint.ts';
import { createHarness, type Harness, type Snapshot } from './git-harness.ts';

const FILES = ['a', 'key', 'in/a', 'in/key', 'in/deep/key', 'out/a', 'out/key'];
const DIRECTORIES = ['in', 'in/deep', 'out'];

const inPlace = (path: string, script: string): string => `mkdir -p "$(dirname ${path})" && ${script}`;

const file = fc.constantFrom(...FILES);
const directory = fc.constantFrom(...DIRECTORIES);
const rules = fc.constantFrom('.gitignore', 'in/.gitignore');
const content = fc.nat({ max: 99 });

const step: fc.Arbitrary<string> = fc.oneof(
  { weight: 4, arbitrary: fc.tuple(file, content).map(([path, n]) => inPlace(path, `echo ${n} > ${path}`)) },
  {
    weight: 2,
    arbitrary: fc
      .tuple(file, content)
      .map(([path, n]) => inPlace(path, `{ echo ${n}; head -c 3000 /dev/zero; } > ${path}`)),
  },
  { weight: 2, arbitrary: file.map((path) => `chmod 600 ${path}`) },
  { weight: 1, arbitrary: directory.map((path) => `chmod 700 ${path}`) },
  { weight: 2, arbitrary: file.map((path) => `rm -rf ${path}`) },
  { weight: 1, arbitrary: directory.map((path) => `rm -rf ${path}`) },
  { weight: 1, arbitrary: directory.map((path) => `rm -rf ${path}; echo file > ${path}`) },
  { weight: 1, arbitrary: file.map((path) => `rm -rf ${path}; mkdir -p ${path}; echo q > ${path}/key`) },
  { weight: 1, arbitrary: file.map((path) => `rm -rf ${path}; ln -s nowhere ${path}`) },
  { weight: 1, arbitrary: fc.tuple(file, file).map(([from, to]) => inPlace(to, `mv ${from} ${to}`)) },
  {
    weight: 4,
    arbitrary: fc
      .tuple(rules, fc.constantFrom('key', '/in/', '*', 'out/*', 'deep', '!key', '!in/', 'a'), fc.boolean())
      // A file of rules that ignores itself is in no checkpoint, and neither is what it named before it changed.
      .map(([path, rule, isAdded]) => {
        const lines = rule === '*' ? `'*' '!.gitignore'` : `'${rule}'`;
        return `printf '%s\\n' ${lines} ${isAdded ? '>>' : '>'} ${path}`;
      }),
  },
  { weight: 2, arbitrary: rules.map((path) => `rm -f ${path}`) },
  // No checkpoint holds this file, so what it names must not be seen later.
  {
    weight: 1,
    arbitrary: fc.constantFrom('deep', 'out/a').map((rule) => `echo ${rule} >> .git/info/exclude`),
  },
  {
    weight: 6,
    arbitrary: fc.oneof(
      file.map((path) => `git add -f ${path}`),
      file.map((path) => `git rm -q --cached ${path}`),
      file.map((path) => `git rm -qf ${path}`),
      fc.constantFrom(
        'git add -A; git commit -qm all',
        'git add -Af; git commit -qm forced',
        'git commit -qam some',
        'git reset -q --hard',
        'git reset -q HEAD~1',
        'git checkout -qf HEAD~1',
        'git stash -qu',
        'git stash pop -q',
        'git clean -qfd',
      ),
    ),
  },
);

/** Work and then a checkpoint, or a way back from where the work stands. */
export type RulesTurn =
  | { work: string[] }
  | { to: number; isFilesOnly: boolean; isUndone: boolean }
  | { to: number; paths: string[]; isUndone: boolean }
  | { revert: number; isUndone: boolean }
  | { merge: number; since: number; isUndone: boolean };

export const rulesTurns = (limits: { minLength: number; maxLength: number }): fc.Arbitrary<RulesTurn[]> =>
  fc.array(
    fc.oneof(
      { weight: 4, arbitrary: fc.record({ work: fc.array(step, { minLength: 1, maxLength: 4 }) }) },
      {
        weight: 1,
        arbitrary: fc.record({ to: fc.nat(), isFilesOnly: fc.boolean(), isUndone: fc.boolean() }),
      },
      {
        weight: 1,
        arbitrary: fc.record({
          to: fc.nat(),
          paths: fc.uniqueArray(fc.constantFrom(...FILES, ...DIRECTORIES, '.gitignore'), {
            minLength: 1,
            maxLength: 4,
          }),
          isUndone: fc.boolean(),
        }),
      },
      { weight: 1, arbitrary: fc.record({ revert: fc.nat(), isUndone: fc.boolean() }) },
      { weight: 1, arbitrary: fc.record({ merge: fc.nat(), since: fc.nat(), isUndone: fc.boolean() }) },
    ),
    limits,
  );

type Listing = ReadonlyMap<string, string>;

interface CapturedListing {
  snapshot: Snapshot;
  onDisk: Listing;
  held: ReadonlySet<string>;
}

const listingOf = (harness: Harness): Listing =>
  new Map(
    files(`${harness.root}/app`, { directories: false }).map((line) => [
      line.startsWith('l')
        ? (/^l (.*) -> /.exec(line)?.[1] ?? '')
        : (/^f \d+ (.*) \w+$/.exec(line)?.[1] ?? ''),
      line,
    ]),
  );

const heldBy = (harness: Harness, snapshot: Snapshot): Set<string> => {
  const one = snapshot.repositories.find(({ path }) => path === 'app');
  if (one?.state !== 'captured') throw new Error('not captured');
  const said = harness.sh(`git --git-dir=.agent-shadow/session-s1 ls-tree -r --name-only ${one.tree}`, 'app');
  return new Set(said.split('\n').filter((line) => line !== ''));
};

/** What is gone must be in the checkpoint before it, and must not have been there then; what stayed is as it was. */
const requireKept = (
  before: CapturedListing,
  after: Listing,
  goal: CapturedListing,
  { warnings, mayGo }: { warnings: readonly string[]; mayGo: ReadonlySet<string> },
): void => {
  const lost: string[] = [];
  for (const [path, line] of before.onDisk) {
    const now = after.get(path);
    if (now === undefined && !before.held.has(path)) lost.push(`${path}: gone, and in no checkpoint`);
    if (now === undefined && goal.onDisk.has(path) && !mayGo.has(path))
      lost.push(`${path}: gone, although it was there then`);
    if (now === undefined || now === line) continue;
    if (!before.held.has(path)) lost.push(`${path}: changed, and in no checkpoint: ${now}`);
    else if (!isOfBoth(now, line, goal.onDisk.get(path)))
      lost.push(`${path}: neither as before nor as then: ${now}`);
  }
  for (const [path] of after) {
    if (!before.onDisk.has(path) && !goal.held.has(path)) lost.push(`${path}: came from nowhere`);
  }
  expect(lost, warnings.join('\n')).toEqual([]);
};

/** Plays them. Answers how often it went back. */
export const nothingUnseenIsLost = async (all: readonly RulesTurn[]): Promise<number> => {
  await using harness = await createHarness({ maxFileBytes: 1000 });
  harness.sh(
    'git init -q -b main app; cd app; mkdir -p in/deep out; echo a > a; echo a > in/a; git add -A; git commit -qm a; echo key > .gitignore; git add -A; git commit -qm i; echo k > key; echo k > in/key; chmod 600 key in/key',
  );
  const taken: CapturedListing[] = [];
  const take = async (target?: Snapshot): Promise<CapturedListing> => {
    const snapshot = await harness.capture(target);
    expect(snapshot.report.failures).toEqual([]);
    const one = { snapshot, onDisk: listingOf(harness), held: heldBy(harness, snapshot) };
    taken.push(one);
    return one;
  };
  const at = (number: number): CapturedListing => {
    const one = taken[number % taken.length];
    if (one === undefined) throw new Error('no such checkpoint');
    return one;
  };
  let times = 0;
  const goTo = async (
    target: Snapshot,
    goal: CapturedListing,
    isUndone: boolean,
    more: { isFilesOnly?: boolean; isWhole?: boolean; warnings?: string[]; mayGo?: ReadonlySet<string> } = {},
  ): Promise<void> => {
    const { isFilesOnly = false, isWhole = false, warnings = [], mayGo = new Set() } = more;
    const onDisk = listingOf(harness);
    const { undo, report } = await harness.rollback(target, { filesOnly: isFilesOnly });
    if (report.outcome === 'refused' && report.problems.every(({ kind }) => kind === 'conflict')) {
      // What no checkpoint holds stands in the way.
      expect([...listingOf(harness).values()], 'refused').toEqual([...onDisk.values()]);
      return;
    }
    expect([report.outcome, report.problems]).toEqual(['applied', []]);
    const before = { snapshot: undo, onDisk, held: heldBy(harness, undo) };
    const after = listingOf(harness);
    const said = [...warnings, ...report.warnings];
    requireKept(before, after, goal, { warnings: said, mayGo });
    if (isWhole) {
      const then = [...goal.held].map((path) => goal.onDisk.get(path));
      expect(
        [...goal.held].map((path) => after.get(path)),
        said.join('\n'),
      ).toEqual(then);
      const stayed = [...after.keys()].filter((path) => before.held.has(path) && !goal.held.has(path));
      expect(stayed.filter((path) => !said.some((line) => line.includes(` ${path} stays`)))).toEqual([]);
    }
    times += 1;
    if (!isUndone) return;
    const back = await harness.rollback(undo, { filesOnly: isFilesOnly });
    if (!isWhole && back.report.outcome === 'refused') {
      expect(back.report.problems.map(({ kind }) => kind)).toEqual(['conflict']);
      return;
    }
    expect([back.report.outcome, back.report.problems], 'undone').toEqual(['applied', []]);
    // A file that came as uncommitted work and that the rules of before ignore is in no capture, so it stays.
    const held = heldBy(harness, back.undo);
    const left = [...listingOf(harness)].filter(
      ([path]) => (isWhole && !isFilesOnly) || onDisk.has(path) || held.has(path),
    );
    expect(
      left.map(([, line]) => line),
      ['undone', ...back.report.warnings].join('\n'),
    ).toEqual([...onDisk.values()]);
  };
  await take();
  for (const turn of all) {
    if ('work' in turn) {
      for (const script of turn.work) harness.sh(`set +e; { ${script}; } >/dev/null 2>&1; :`, 'app');
      if (!existsSync(`${harness.root}/app/.git`)) throw new Error('the repository is gone');
      await take();
    } else if ('revert' in turn) {
      const [theirs, base] = [at(turn.revert), at((turn.revert % taken.length) + 1)];
      await take();
      const { report, merged } = await harness.compose([{ base: base.snapshot, theirs: theirs.snapshot }], {
        own: true,
      });
      if (report.conflicts.length > 0) continue;
      expect(report.failures).toEqual([]);
      await goTo(merged, theirs, turn.isUndone, { warnings: report.warnings });
    } else if ('merge' in turn) {
      const [one, other] = [turn.merge % taken.length, turn.since % taken.length].toSorted((a, b) => a - b);
      const [base, theirs] = [at(one ?? 0), at(other ?? 0)];
      await take();
      const { report, merged } = await harness.compose([{ base: base.snapshot, theirs: theirs.snapshot }]);
      if (report.conflicts.length > 0) continue;
      expect(report.failures).toEqual([]);
      // What the other side took out of git goes, as git merges it.
      await goTo(merged, theirs, turn.isUndone, { warnings: report.warnings, mayGo: base.held });
    } else if ('paths' in turn) {
      const then = at(turn.to);
      const now = await take(then.snapshot);
      const { report, merged } = await harness.compose([{ base: now.snapshot, theirs: then.snapshot }], {
        own: true,
        paths: { app: turn.paths },
      });
      // A file that stands where the directory of a path was is in its way.
      if (report.conflicts.some(({ kind }) => kind === 'file/directory')) continue;
      expect([report.conflicts, report.failures]).toEqual([[], []]);
      if (report.unknownPaths.length > 0) continue;
      await goTo(merged, then, turn.isUndone, { warnings: report.warnings });
    } else {
      const then = at(turn.to);
      const { isFilesOnly, isUndone } = turn;
      await goTo(then.snapshot, then, isUndone, { isFilesOnly, isWhole: true });
    }
  }
  return times;
};

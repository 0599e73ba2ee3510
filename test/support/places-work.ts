/**
 * Work in which repositories, links, worktrees and directories with modes of their own come and go in each other's places,
 * some where git ignores them, and forks that bring such work. The laws are about the disk alone:
 * what no checkpoint holds is not touched, what one holds comes back, and an undo gives back all of it.
 */
import { existsSync } from 'node:fs';
import { expect } from 'vitest';
import { files, isOfBoth } from './fingerprint.ts';
import { createHarness, type Harness, type Snapshot } from './git-harness.ts';
import type { PlacesTurn } from './places-turns.ts';

type Listing = ReadonlyMap<string, string>;

interface CapturedListing {
  snapshot: Snapshot;
  /** Lines of files and links by path, and of directories. */
  onDisk: Listing;
  directories: Listing;
  held: ReadonlySet<string>;
}

const PATH = /^(?:f \d+ (.*) \w+|l (.*) -> .*|d \d+ (.*))$/s;

const listed = (harness: Harness): { onDisk: Listing; directories: Listing } => {
  const [onDisk, directories] = [new Map<string, string>(), new Map<string, string>()];
  for (const line of files(harness.root)) {
    const path =
      PATH.exec(line)
        ?.slice(1)
        .find((one) => one !== undefined) ?? '';
    (line.startsWith('d') ? directories : onDisk).set(path, line);
  }
  return { onDisk, directories };
};

const heldBy = (harness: Harness, snapshot: Snapshot): Set<string> => {
  const held = new Set<string>();
  for (const one of snapshot.repositories) {
    if (one.state !== 'captured') continue;
    const said = harness.sh(
      `git --git-dir=.agent-shadow/session-s1 ls-tree -r -z --name-only ${one.tree}`,
      one.path,
    );
    for (const name of said.split('\0'))
      if (name !== '') held.add(one.path === '.' ? name : `${one.path}/${name}`);
  }
  return held;
};

const parentsOf = (paths: Iterable<string>): Set<string> => {
  const parents = new Set<string>();
  for (const path of paths)
    for (let at = path.lastIndexOf('/'); at > 0; at = path.lastIndexOf('/', at - 1))
      parents.add(path.slice(0, at));
  return parents;
};

/** By itself, or with the other files of a repository that went. */
const isNamed = (said: readonly string[], path: string): boolean =>
  said.some((line) => {
    const [, repository, name] = /^(.*?): (.*) stays(?:,| )/.exec(line) ?? [];
    return (
      (repository === '.' ? name : `${repository}/${name}`) === path ||
      /: (?:1 file stays|\d+ files stay), because /.test(line)
    );
  });

const NEW = `git init -q -b main ../src; (cd ../src; mkdir -p in/deep out; echo a > a; echo a > in/a; git add -A; git commit -qm a
echo key > .gitignore; git add -A; git commit -qm i; git config uploadpack.allowFilter true; git config uploadpack.allowAnySHA1InWant true)`;
const CLONES = {
  whole: 'git clone -q ../src app',
  partial: 'git clone -q --filter=blob:none "file://$(realpath ../src)" app',
  /** No repository: the projects root is captured. */
  loose: 'cp -r ../src app; rm -rf app/.git',
};
const UNSEEN =
  'cd app; [ ! -e .git ] || git config protocol.file.allow always; mkdir -p out; echo k > key; echo k > in/key; chmod 600 key in/key';

const play = (harness: Harness, scripts: readonly string[]): void => {
  for (const script of scripts)
    harness.sh(`set +e; export GIT_ALLOW_PROTOCOL=file; { ${script}; } >/dev/null 2>&1; :`, 'app');
};

export type Clone = keyof typeof CLONES;

/** Plays them. Answers how often it went elsewhere. */
export const placesAreKept = async (clone: Clone, all: readonly PlacesTurn[]): Promise<number> => {
  const options = { maxFileBytes: 1000, looseFiles: clone === 'loose' };
  await using harness = await createHarness(options);
  harness.sh(`${NEW}; ${CLONES[clone]}; ${UNSEEN}`);
  /** Where all work begins. */
  const isThere = ({ root }: Harness): boolean =>
    existsSync(clone === 'loose' ? `${root}/app` : `${root}/app/.git`);
  const taken: CapturedListing[] = [];
  const take = async (target?: Snapshot, from = harness): Promise<CapturedListing> => {
    const snapshot = await from.capture(target);
    expect(snapshot.report.failures).toEqual([]);
    return { snapshot, ...listed(from), held: heldBy(from, snapshot) };
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
    {
      isWhole = false,
      warnings = [],
      mayGo = new Set(),
    }: { isWhole?: boolean; warnings?: string[]; mayGo?: ReadonlySet<string> } = {},
  ): Promise<void> => {
    const first = listed(harness);
    // Asked before a repository is parked.
    const undo = await harness.capture(target);
    const held = heldBy(harness, undo);
    const { report } = await harness.rollback(target, { from: undo });
    const after = listed(harness);
    if (
      report.outcome === 'refused' &&
      report.problems.every(({ kind }) => kind === 'conflict' || kind === 'unsafe-path')
    ) {
      if (process.env['TELL'] === '1') process.stdout.write(`${JSON.stringify(report.problems)}\n`);
      expect([...after.onDisk.values()], 'refused').toEqual([...first.onDisk.values()]);
      return;
    }
    expect([report.outcome, report.problems]).toEqual(['applied', []]);
    const said = [...warnings, ...report.warnings];
    const wrong: string[] = [];
    for (const [path, line] of first.onDisk) {
      const now = after.onDisk.get(path);
      if (now === undefined && !held.has(path)) wrong.push(`${path}: gone, and in no checkpoint`);
      if (now === undefined && goal.onDisk.has(path) && !goal.held.has(path) && !mayGo.has(path))
        wrong.push(`${path}: gone, although it was there then`);
      if (now === undefined || now === line) continue;
      if (!held.has(path)) wrong.push(`${path}: changed, and in no checkpoint: ${line} > ${now}`);
      else if (!isOfBoth(now, line, goal.onDisk.get(path)))
        wrong.push(`${path}: neither as before nor as then: ${now}`);
    }
    for (const [path] of after.onDisk)
      if (!first.onDisk.has(path) && !goal.held.has(path)) wrong.push(`${path}: came from nowhere`);
    if (isWhole) {
      for (const path of goal.held)
        if (after.onDisk.get(path) !== goal.onDisk.get(path))
          wrong.push(`${path}: then ${goal.onDisk.get(path)}, now ${after.onDisk.get(path)}`);
      const roots = new Set(goal.snapshot.repositories.map((one) => one.path));
      for (const path of parentsOf(goal.held))
        if (!roots.has(path) && after.directories.get(path) !== goal.directories.get(path))
          wrong.push(`${path}: then ${goal.directories.get(path)}, now ${after.directories.get(path)}`);
      for (const path of after.onDisk.keys())
        if (held.has(path) && !goal.held.has(path) && !isNamed(said, path))
          wrong.push(`${path}: stays, and is not named`);
    }
    expect(wrong, said.join('\n')).toEqual([]);
    times += 1;
    if (!isUndone) return;
    const back = await harness.rollback(undo);
    if (!isWhole && back.report.outcome === 'refused') {
      expect(back.report.problems.every(({ kind }) => kind === 'conflict' || kind === 'unsafe-path')).toBe(
        true,
      );
      return;
    }
    expect([back.report.outcome, back.report.problems], 'undone').toEqual(['applied', []]);
    const end = listed(harness);
    const left = [...end.onDisk].filter(([path]) => isWhole || first.onDisk.has(path));
    expect(
      left.map(([, line]) => line),
      ['undone', ...back.report.warnings].join('\n'),
    ).toEqual([...first.onDisk.values()]);
    const parents = parentsOf(held);
    const roots = new Set(undo.repositories.map((one) => one.path));
    const dirs = (listing: { directories: Listing }) =>
      [...listing.directories]
        .filter(([path]) => parents.has(path) && !roots.has(path))
        .map(([, line]) => line);
    expect(dirs(end), 'directories undone').toEqual(dirs(first));
  };
  taken.push(await take());
  for (const turn of all) {
    if ('fork' in turn) {
      const base = at(turn.fork);
      await using other = await createHarness(options);
      other.sh('git clone -q "$1/src" ../src || :'.replace('$1', harness.top));
      const arrived = await other.rehydrate(base.snapshot);
      expect([arrived.outcome, arrived.problems], 'fork').toEqual(['applied', []]);
      if (!isThere(other)) continue;
      play(other, ['git config protocol.file.allow always; echo f > key; echo f > in/key', ...turn.work]);
      if (!isThere(other)) continue;
      const theirs = await take(undefined, other);
      taken.push(await take());
      const { report, merged } = await harness.compose([{ base: base.snapshot, theirs: theirs.snapshot }]);
      if (report.conflicts.length > 0) continue;
      expect(report.failures).toEqual([]);
      await goTo(merged, theirs, turn.isUndone, { warnings: report.warnings, mayGo: base.held });
    } else if ('work' in turn) {
      play(harness, turn.work);
      if (!isThere(harness)) throw new Error('the repository is gone');
      taken.push(await take());
    } else if ('revert' in turn) {
      const [theirs, base] = [at(turn.revert), at((turn.revert % taken.length) + 1)];
      taken.push(await take());
      const { report, merged } = await harness.compose([{ base: base.snapshot, theirs: theirs.snapshot }], {
        own: true,
      });
      if (report.conflicts.length > 0) continue;
      expect(report.failures).toEqual([]);
      await goTo(merged, theirs, turn.isUndone, { warnings: report.warnings });
    } else if ('paths' in turn) {
      const then = at(turn.to);
      const now = await take(then.snapshot);
      const { report, merged } = await harness.compose([{ base: now.snapshot, theirs: then.snapshot }], {
        own: true,
        paths: clone === 'loose' ? { '.': turn.paths.map((path) => `app/${path}`) } : { app: turn.paths },
      });
      if (report.conflicts.length > 0 || report.unknownPaths.length > 0) continue;
      expect(report.failures).toEqual([]);
      await goTo(merged, then, turn.isUndone, { warnings: report.warnings });
    } else {
      const then = at(turn.to);
      await goTo(then.snapshot, then, turn.isUndone, { isWhole: true });
    }
  }
  return times;
};

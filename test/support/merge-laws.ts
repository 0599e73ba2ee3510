/** Laws of three-way merges over generated repositories: real captures, real compositions, real restores. */
import * as fc from 'fast-check';
import { expect } from 'vitest';
import { state } from './git-cases.ts';
import { createHarness, type Harness, type Snapshot } from './git-harness.ts';

const REPOSITORIES = ['app', 'lib'];

/** Work in one directory of a repository, whatever is there before it. */
const work = (directory: string): fc.Arbitrary<string> =>
  fc
    .tuple(
      fc.constantFrom('f', 'g', 'deep/h', '-odd "name"', 'x.bin'),
      fc.integer({ min: 1, max: 400 }),
      fc.constantFrom(
        (name: string, n: number) => `mkdir -p "$(dirname -- "${name}")"; seq ${n} ${n + 60} > "${name}"`,
        (name: string, n: number) =>
          `[ ! -f "${name}" ] || sed -i '${(n % 50) + 1}s/.*/edit ${n}/' -- "${name}"`,
        (name: string, n: number) =>
          `mkdir -p "$(dirname -- "${name}")"; printf 'a\\r\\n\\0%s' ${n} > "${name}"`,
        (name: string, n: number) => `[ ! -f "${name}" ] || chmod ${n % 2 ? 600 : 755} -- "${name}"`,
        (name: string) => `rm -f -- "${name}"`,
        (name: string, n: number) => `[ ! -f "${name}" ] || mv -- "${name}" moved-${n % 3}`,
        (_: string, n: number) => `ln -sfn to-${n} link`,
        (_: string, n: number) => `mkdir -p hollow/${n % 4}; chmod ${n % 2 ? 700 : 755} hollow`,
        () => 'rm -rf deep hollow',
        () => `git add -A .; git commit -q --allow-empty -m work`,
        () => `git add -A .`,
        (_: string, n: number) => `git switch -qC topic-${n % 3} 2>/dev/null`,
      ),
    )
    .map(
      ([name, n, make]) =>
        `mkdir -p ${directory}; (cd ${directory}; ${make(name.replaceAll('"', '\\"'), n)})`,
    );

interface Work {
  repository: string;
  script: string;
}

const works = (directory: string, maxLength: number): fc.Arbitrary<Work[]> =>
  fc.array(fc.record({ repository: fc.constantFrom(...REPOSITORIES), script: work(directory) }), {
    minLength: 2,
    maxLength,
  });

/** What is there at first, and what two sides do in directories of their own. */
export const generated = fc.record({
  first: fc.tuple(works('a', 6), works('b', 6)).map(([a, b]) => [...a, ...b]),
  ours: works('a', 6),
  theirs: works('b', 6),
});

export type Generated = typeof generated extends fc.Arbitrary<infer T> ? T : never;

const play = (harness: Harness, all: readonly Work[]): void => {
  for (const { repository, script } of all) harness.sh(script, repository);
};

/** Files of a composed state, without looking at HEAD, branches and index: trees, modes, empty directories. */
const filesOf = (harness: Harness, { repositories }: Snapshot): string[] =>
  repositories
    .toSorted((x, y) => (x.path < y.path ? -1 : 1))
    .flatMap((one) =>
      one.state !== 'captured'
        ? []
        : [
            `${one.path} ${one.tree}`,
            ...['modes', 'empty'].map((part) =>
              harness
                .sh(
                  `GIT_DIR=$PWD/.agent-shadow/session-s1 git rev-parse ${one.meta}:${part} 2>/dev/null || echo none`,
                  one.path,
                )
                .trim(),
            ),
          ],
    );

const clean = ({ report }: Awaited<ReturnType<Harness['compose']>>, name: string): void =>
  expect({ conflicts: report.conflicts, failures: report.failures, missing: report.missing }, name).toEqual({
    conflicts: [],
    failures: [],
    missing: [],
  });

const apply = async (harness: Harness, goal: Snapshot, name: string): Promise<void> => {
  const { report } = await harness.rollback(goal);
  expect([report.outcome, report.problems], name).toEqual(['applied', []]);
};

const onlyFiles = (lines: readonly string[]): string[] => lines.filter((line) => /^[dfl] /.test(line));

export const lawsHold = async ({ first, ours, theirs }: Generated): Promise<void> => {
  await using harness = await createHarness();
  for (const name of REPOSITORIES)
    harness.sh(`git init -q -b main ${name}; cd ${name}; echo x > x; git add x; git commit -qm x`);
  play(harness, first);
  const atBase = state(harness);
  const base = await harness.capture();
  play(harness, ours);
  const atOurs = state(harness);
  const a = await harness.capture();
  play(harness, theirs);
  const filesOfBoth = onlyFiles(state(harness));
  await apply(harness, base, 'back');
  play(harness, theirs);
  const atTheirs = state(harness);
  const b = await harness.capture();
  await apply(harness, base, 'back again');

  const nothing = await harness.compose([{ base, theirs: base }]);
  clean(nothing, 'a fork with no changes');
  expect(filesOf(harness, nothing.merged)).toEqual(filesOf(harness, base));
  expect(nothing.report.bundles).toEqual([]);

  const fork = await harness.compose([{ base, theirs: b }]);
  clean(fork, 'into what stood still');
  await apply(harness, fork.merged, 'into what stood still');
  expect(state(harness), 'into what stood still: as the fork, commits included').toEqual(atTheirs);
  const back = await harness.compose([{ base: b, theirs: base }], { own: true });
  clean(back, 'the last one taken back');
  await apply(harness, back.merged, 'the last one taken back');
  expect(state(harness), 'the last one taken back is what a rollback restores').toEqual(atBase);

  const oneWay = await harness.compose([
    { base, theirs: a },
    { base, theirs: b },
  ]);
  clean(oneWay, 'one way');
  const otherWay = await harness.compose([
    { base, theirs: b },
    { base, theirs: a },
  ]);
  clean(otherWay, 'the other way');
  expect(filesOf(harness, otherWay.merged), 'disjoint changes commute').toEqual(
    filesOf(harness, oneWay.merged),
  );

  await apply(harness, a, 'to ours');
  await harness.capture();
  const merged = await harness.compose([{ base, theirs: b }]);
  clean(merged, 'into other work');
  expect(filesOf(harness, merged.merged), 'as both, one after the other').toEqual(
    filesOf(harness, oneWay.merged),
  );
  await apply(harness, merged.merged, 'into other work');
  expect(onlyFiles(state(harness)), 'the files of both').toEqual(filesOfBoth);
  const undone = await harness.compose([{ base: merged.merged, theirs: a }], { own: true });
  clean(undone, 'the merge taken back');
  await apply(harness, undone.merged, 'the merge taken back');
  expect(state(harness), 'merge, then revert').toEqual(atOurs);
};

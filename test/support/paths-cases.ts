/** One case of repositories, of which some paths go back: what a rollback restores of them, and nothing else. */
import { expect } from 'vitest';
import { decodeName } from '../../adapters/git/names.ts';
import { type GitCase, openCase, rootsIn, state } from './git-cases.ts';
import type { Harness, Snapshot } from './git-harness.ts';

type Selection = Record<string, string[] | 'whole'>;

/** Goes to the state of now with these paths as they were `then`. */
const putBack = async (harness: Harness, then: Snapshot, paths: Selection, name: string): Promise<void> => {
  const now = await harness.capture(then);
  const { report, merged } = await harness.compose([{ base: now, theirs: then }], { paths, own: true });
  expect(
    { conflicts: report.conflicts, failures: report.failures, unknown: report.unknownPaths },
    name,
  ).toEqual({
    conflicts: [],
    failures: [],
    unknown: [],
  });
  const gone = await harness.rollback(merged);
  expect([gone.report.outcome, gone.report.problems], name).toEqual(['applied', []]);
};

/** Names at the top of a repository of which a capture holds something, as requests name them. */
const topNames = (harness: Harness, snapshot: Snapshot, path: string): string[] => {
  const one = snapshot.repositories.find((state) => state.path === path);
  if (one?.state !== 'captured') return [];
  const said = harness.sh(
    `export GIT_DIR=$PWD/.agent-shadow/session-s1; { git ls-tree -z --name-only ${one.tree}; git cat-file blob ${one.meta}:empty 2>/dev/null; } | base64 -w0`,
    path,
  );
  const bytes = Buffer.from(said, 'base64');
  const names: string[] = [];
  for (let at = 0; at < bytes.length; ) {
    const end = bytes.indexOf(0, at);
    const name = decodeName(bytes.subarray(at, end));
    names.push(name.split('/', 1)[0] ?? name);
    at = end + 1;
  }
  return names;
};

const isBelow = (path: string, directory: string): boolean =>
  path === directory || path.startsWith(`${directory}/`);

/**
 * All repositories by their names, as a rollback restores them. Then, where the repositories are the same on both sides, every
 * file of one of them: its HEAD, branches and index stay, and so do the others.
 */
export const somePathsGoBack = async ({ setup, damage, options, survives }: GitCase): Promise<void> => {
  await using harness = await openCase({ setup, options });
  const looks = () => state(harness, survives);
  const roots = () => rootsIn(harness).map((root) => root.replace('./', ''));
  const atFirst = looks();
  const first = await harness.capture();
  const before = roots();
  harness.sh(damage, 'app');
  const after = roots();
  const damaged = await harness.capture();

  const whole = Object.fromEntries([...before, ...after].map((root) => [root, 'whole' as const]));
  await putBack(harness, first, whole, 'whole repositories');
  expect(looks(), 'whole repositories: what a rollback restores').toEqual(atFirst);
  if (before.join('\n') !== after.join('\n')) return;

  expect((await harness.rollback(damaged)).report.outcome).toBe('applied');
  const atDamaged = looks();
  const inner = after.filter((root) => root !== 'app' && isBelow(root, 'app')).map((root) => root.slice(4));
  const names = [...new Set([...topNames(harness, first, 'app'), ...topNames(harness, damaged, 'app')])];
  const [around, asked] = [true, false].map((isAround) =>
    names.filter((name) => inner.some((root) => isBelow(root, name)) === isAround),
  );
  if (asked === undefined || asked.length === 0) return;
  await putBack(harness, first, { app: asked }, 'every file of one');
  const isAsked = (line: string): boolean =>
    /^(?:[df] \d+|l) app\//.test(line) &&
    !(around ?? []).concat(inner).some((name) => line.includes(` app/${name}`));
  const files = (lines: readonly string[]) => lines.filter(isAsked);
  const rest = (lines: readonly string[]) => lines.filter((line) => !isAsked(line));
  const now = looks();
  expect(files(now), 'every file of one').toEqual(files(atFirst));
  expect(rest(now), 'and nothing else').toEqual(rest(atDamaged));
};

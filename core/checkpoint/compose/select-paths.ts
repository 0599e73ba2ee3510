/** Finds which repository each path of a request is in. Pure. */
import { WalkbackError } from '../../shared/errors.ts';

/** Keyed by repository: all of it, or files and directories in it. */
export type SelectedPaths = ReadonlyMap<string, 'whole' | string[]>;

/**
 * Groups the paths by the innermost repository around each. Throws `InvalidInput` for a path that is in none.
 *
 * `everywhere`: the repositories that all states have. When a repository that is not in all states is asked
 * for as a whole, some state may have plain files of the outer repository there instead. So that path is
 * added to the outer repository too.
 */
export const selectPaths = (
  paths: readonly string[],
  repositories: readonly string[],
  everywhere: ReadonlySet<string> = new Set(),
): SelectedPaths => {
  const innermostFirst = [...new Set(repositories)].toSorted((a, b) => b.length - a.length);
  const selected = new Map<string, 'whole' | string[]>();
  const add = (owner: string, path: string): void => {
    const before = selected.get(owner) ?? [];
    const inside = owner === '.' ? path : path.slice(owner.length + 1);
    if (before !== 'whole') selected.set(owner, [...before, inside]);
  };
  for (const given of paths) {
    const path = given.replace(/\/$/, '');
    const owner =
      innermostFirst.find((one) => one === path || path.startsWith(`${one}/`)) ??
      innermostFirst.find((one) => one === '.');
    if (owner === undefined) {
      const known = [...new Set(repositories)].toSorted().slice(0, 20);
      throw new WalkbackError(
        'InvalidInput',
        `paths: "${given}" is in no repository. Give paths relative to the projects root. Repositories: ${known.join(', ') || 'none'}.`,
        { details: { fields: ['paths'], path: given, known } },
      );
    }
    if (owner !== path) {
      add(owner, path);
      continue;
    }
    selected.set(owner, 'whole');
    if (everywhere.has(path)) continue;
    const around = innermostFirst.find((one) => one !== path && (one === '.' || path.startsWith(`${one}/`)));
    if (around !== undefined && everywhere.has(around)) add(around, path);
  }
  return selected;
};

/** Which repository each path of a request is in. Pure. */
import { WalkbackError } from '../../shared/errors.ts';

/** By repository: all of it, or files and directories in it. */
export type SelectedPaths = ReadonlyMap<string, 'whole' | string[]>;

/**
 * A path belongs to the innermost repository. Throws `InvalidInput` for one that is in none. `everywhere`: those of the
 * repositories that all states have. Where another one is asked for as a whole, some state may have files of the repository
 * around it there instead, so they are asked for as well.
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

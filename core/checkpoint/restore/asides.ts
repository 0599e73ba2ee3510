/** Reports changes that other processes made to files that a restore overwrote or deleted. Pure. */
import type { LateWrites, Uncaptured } from '../../../contract/answer-fields.ts';
import type { SetAside } from '../ports/restore.ts';

/** What became of the files that a restore put aside. */
export interface AsidesResult {
  lateWrites?: LateWrites;
  warnings: string[];
}

const MAX_LISTED = 10;

/** The first of some paths, for a person. */
export const listed = (paths: readonly string[], notListed = 0): string => {
  const more = Math.max(paths.length - MAX_LISTED, 0) + notListed;
  return `${paths.slice(0, MAX_LISTED).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
};

/** One warning line for each directory where such files are kept. */
export const asideWarnings = (asides: readonly SetAside[] = []): string[] =>
  asides.map(({ path, directory, late, open }) => {
    const why = [
      ...(late.length === 0 ? [] : [`written by another process after the capture: ${listed(late)}`]),
      ...(open.length === 0 ? [] : [`still open in a process, which may write on: ${listed(open)}`]),
    ];
    return `${path}: files as they were are kept in ${directory}${why.length === 0 ? '' : `; ${why.join('; ')}`}`;
  });

/**
 * Files that a checkpoint left out for their size, by repository and path in it. A path belongs to the
 * innermost repository.
 */
export const skippedBelow = (
  repositories: readonly string[],
  skipped: readonly Uncaptured[],
): Map<string, string[]> => {
  const byLength = repositories.toSorted((a, b) => b.length - a.length);
  const owned = new Map<string, string[]>();
  for (const { path, sizeBytes } of skipped) {
    if (sizeBytes === undefined) continue;
    const owner =
      byLength.find((one) => path.startsWith(`${one}/`)) ?? repositories.find((one) => one === '.');
    if (owner === undefined) continue;
    const below = owner === '.' ? path : path.slice(owner.length + 1);
    owned.set(owner, [...(owned.get(owner) ?? []), below]);
  }
  return owned;
};

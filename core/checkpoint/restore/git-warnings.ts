/** Says what happens to the `.git` of a directory that is a repository at one of two points only. Pure. */
import type { Checkpoint, RepositoryState } from '../model.ts';

const hasGit = ({ branch, head }: RepositoryState): boolean => branch !== undefined || head !== undefined;

/** `now`: what the sandbox holds. Repositories that come or go as a whole are told by their action. */
export const gitWarnings = (
  target: Pick<Checkpoint, 'repositories' | 'failures'>,
  now: readonly RepositoryState[],
  { filesOnly }: { filesOnly: boolean },
): string[] => {
  if (filesOnly) return [];
  return target.repositories.flatMap((there) => {
    const { path } = there;
    const here = now.find((state) => state.path === path);
    if (there.state !== 'captured' || here?.state !== 'captured' || hasGit(there) === hasGit(here)) return [];
    if (hasGit(there)) return `${path}: it has no repository now; its .git comes back`;
    const git = path === '.' ? '.git' : `${path}/.git`;
    // It was there, and could not be read.
    if (target.failures.some((one) => one.path === git || one.path.startsWith(`${git}/`))) return [];
    return `${path}: it had no repository then; its .git is put aside, with the commits in it, and an undo brings it back`;
  });
};

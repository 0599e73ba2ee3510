/**
 * Joins two equally near common checkpoints of two sessions into one base. Each repository is taken from the
 * checkpoint that changed it. If both changed it, the first counts. Pure.
 */
import type { RepositoryState } from '../model.ts';
import type { States } from './decide.ts';

const at = (states: States, path: string): RepositoryState | undefined =>
  states.find((one) => one.path === path && one.state !== 'absent');

const isSame = (a: RepositoryState | undefined, b: RepositoryState | undefined): boolean =>
  a?.state === b?.state && a?.tree === b?.tree && a?.meta === b?.meta;

/** `below`: the checkpoint that `first` and `other` have in common. */
export const joinBases = (first: States, other: States, below: States): RepositoryState[] =>
  [...new Set([...first, ...other].map(({ path }) => path))].flatMap((path) => {
    const [one, two, before] = [at(first, path), at(other, path), at(below, path)];
    return (isSame(one, before) ? two : one) ?? [];
  });

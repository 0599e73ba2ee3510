/**
 * Finds the repositories of a composed state that lie inside other repositories and that only one side has.
 * The other side may have files of the outer repository at the same place. Pure.
 */
import type { InsideRepository } from '../ports/compose.ts';
import type { Decision, States, Step } from './decide.ts';

const has = (states: States, path: string): boolean =>
  states.some((one) => one.path === path && one.state === 'captured');

/** The path inside the outer repository, or undefined when it does not lie in there. */
const within = (outer: string, path: string): string | undefined => {
  if (outer === path) return undefined;
  if (outer === '.') return path;
  return path.startsWith(`${outer}/`) ? path.slice(outer.length + 1) : undefined;
};

/** Keyed by the path of the outer repository. A repository that has none inside it has no entry. */
export const insideOthers = (
  decisions: readonly Decision[],
  now: States,
  steps: readonly Step[],
): ReadonlyMap<string, InsideRepository[]> => {
  const there = decisions.filter(({ action }) => action !== 'leave').map(({ path }) => path);
  const found = new Map<string, InsideRepository[]>();
  for (const outer of there) {
    const inside = there.flatMap((path): InsideRepository[] => {
      const inOuter = within(outer, path);
      const isNow = has(now, path);
      const isChange = steps.some(({ theirs }) => has(theirs, path));
      if (inOuter === undefined || isNow === isChange) return [];
      return [{ path: inOuter, side: isNow ? 'now' : 'change' }];
    });
    if (inside.length > 0) found.set(outer, inside);
  }
  return found;
};

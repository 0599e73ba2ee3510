/** Directories that a capture looks at as repositories because a composed state brings one there. Pure. */
import type { RepositoryState } from '../model.ts';

type States = { repositories: readonly Pick<RepositoryState, 'path' | 'state'>[] };

const capturedIn = (states: States | undefined): string[] =>
  (states?.repositories ?? []).flatMap(({ path, state }) => (state === 'captured' ? [path] : []));

/** `first` and `composed`: the capture that did not know what would be composed, and what was composed from it. */
export const enteredIn = (
  before: { captured: States; composed: States | undefined } | undefined,
  now: States,
): string[] => {
  const [there, here] = [capturedIn(before?.captured), capturedIn(now)];
  return capturedIn(before?.composed).filter((path) => here.includes(path) && !there.includes(path));
};

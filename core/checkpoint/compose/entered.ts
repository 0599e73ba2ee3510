/** Directories that a capture takes for repositories because a composed state brings a repository there. Pure. */
import type { RepositoryState } from '../model.ts';

type States = { repositories: readonly Pick<RepositoryState, 'path' | 'state'>[] };

const capturedIn = (states: States | undefined): string[] =>
  (states?.repositories ?? []).flatMap(({ path, state }) => (state === 'captured' ? [path] : []));

/** `captured`: the capture made before the composed state was known. `composed`: the state composed from it. */
export const enteredIn = (
  before: { captured: States; composed: States | undefined } | undefined,
  now: States,
): string[] => {
  const [there, here] = [capturedIn(before?.captured), capturedIn(now)];
  return capturedIn(before?.composed).filter((path) => here.includes(path) && !there.includes(path));
};

/**
 * Decides how a repository differs from the checkpoint before. Nothing else decides it, so every answer about
 * a checkpoint says the same. Pure.
 */
import type { RepositoryChange, RepositoryState } from '../model.ts';

type States = readonly RepositoryState[];

const changeSince = (
  state: RepositoryState,
  before: RepositoryState | undefined,
): RepositoryChange | undefined => {
  const wasThere = before !== undefined && before.state !== 'absent';
  if (state.state === 'absent') return wasThere ? 'removed' : undefined;
  // What it holds now is not known.
  if (state.state === 'failed') return undefined;
  // It is new, or no checkpoint holds it yet.
  if (!wasThere || before.commit === undefined) return 'created';
  return before.tree === state.tree && before.meta === state.meta ? undefined : 'changed';
};

const byPath = (states: States): Map<string, RepositoryState> =>
  new Map(states.map((state) => [state.path, state]));

/** The states of a new checkpoint. `before`: those of its parent; null for a baseline, undefined where retention removed it. */
export const compared = (states: States, before: States | null | undefined): RepositoryState[] => {
  if (before === null) return states.map((state) => ({ ...state, change: undefined }));
  if (before === undefined) {
    return states.map((state) => ({ ...state, change: state.changed ? ('changed' as const) : undefined }));
  }
  const known = byPath(before);
  return states.map((state) => {
    const change = changeSince(state, known.get(state.path));
    return { ...state, change, changed: change !== undefined };
  });
};

/** Whether both hold the same in every repository. A repository that could not be captured equals no other. */
export const isSameState = (states: States, others: States): boolean => {
  const held = (all: States): string[] =>
    all
      .filter(({ state }) => state !== 'absent')
      .map(({ path, state, tree, meta }) => (state === 'captured' ? `${tree} ${meta} ${path}` : ''))
      .toSorted();
  const [ours, theirs] = [held(states), held(others)];
  return ours.length === theirs.length && ours.every((one, at) => one !== '' && one === theirs[at]);
};

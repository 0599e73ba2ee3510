/** Applies entries about children to the state (fold.ts). */
import type { ChildrenWait, NamedChild } from '../model/children.ts';
import type { EffectRecord, SagaState } from '../model/state.ts';
import { letterOf, withLetters } from './child-letters.ts';
import { type EntryOf, effectIndex, withEffect } from './fold-parts.ts';

const waitFor = (
  step: number,
  effect: number,
  direction: ChildrenWait['direction'],
  count: number,
): ChildrenWait => ({
  kind: 'children',
  step,
  effect,
  direction,
  ended: '-'.repeat(count),
  told: '.'.repeat(count),
});

export const startChildren = (
  state: SagaState,
  entry: EntryOf<'forward'> & { status: 'started' },
  children: readonly NamedChild[],
): SagaState => {
  const { approvedHash: _, ...rest } = state;
  const effect: EffectRecord = {
    step: entry.stepIndex,
    epoch: entry.epoch,
    kind: entry.effect,
    status: 'started',
    startSeq: entry.seq,
    endSeq: null,
    children: true,
  };
  const wait = waitFor(entry.stepIndex, state.effects.length, 'forward', children.length);
  return {
    ...rest,
    approvedStep: null,
    effects: [...state.effects, effect],
    wait: entry.deadlineMs === 0 ? wait : { ...wait, deadlineMs: entry.deadlineMs },
  };
};

export const startUndoChildren = (
  state: SagaState,
  entry: EntryOf<'undo'> & { status: 'started' },
  count: number,
): SagaState => ({
  ...state,
  operation: null,
  wait: waitFor(entry.stepIndex, effectIndex(state, entry.stepIndex, entry.epoch), 'undo', count),
});

/** The wait for children, if that is what the saga does. */
export const childrenWait = (state: SagaState): ChildrenWait | undefined =>
  state.wait?.kind === 'children' ? state.wait : undefined;

/** How many of the children ended without effect. */
export const branchesFailed = ({ ended }: ChildrenWait): number =>
  Array.from(ended).filter((letter) => letter === 'u' || letter === 'r').length;

const changed = (state: SagaState, change: (wait: ChildrenWait) => Partial<ChildrenWait>): SagaState => {
  const wait = childrenWait(state);
  if (wait === undefined) throw new RangeError('the ledger has an entry of children that nothing waits for');
  return { ...state, wait: { ...wait, ...change(wait) } };
};

/** The effect, which was not undone, is open again, and so are all blocked effects. */
const reopened = (state: SagaState, index: number): SagaState => {
  const { endSeq } = state.effects[index] ?? {};
  const open = withEffect(state, index, { status: endSeq == null ? 'unknown' : 'committed' });
  return {
    ...open,
    effects: open.effects.map((effect) =>
      effect.status === 'blocked'
        ? { ...effect, status: effect.endSeq === null ? ('unknown' as const) : ('committed' as const) }
        : effect,
    ),
  };
};

export const applyChild = (state: SagaState, entry: EntryOf<'child'>): SagaState => {
  switch (entry.status) {
    case 'ended': {
      const { index, status } = entry.child;
      return changed(state, ({ ended }) => ({ ended: withLetters(ended, [index], letterOf(status)) }));
    }
    case 'overdue':
      return changed(state, () => ({ overdue: true }));
    case 'unwinding':
      return changed(state, ({ ended, told }) => ({
        ended: withLetters(ended, entry.children, '-'),
        told: withLetters(told, entry.children, 'x'),
        toldSeq: entry.seq,
      }));
    case 'settled': {
      const open = reopened(state, effectIndex(state, entry.stepIndex, entry.epoch));
      return { ...open, phase: 'undo', status: 'COMPENSATING' };
    }
  }
};

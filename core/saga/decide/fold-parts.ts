/** Small changes of a state that several kinds of entries share. */
import type { LedgerEntry } from '../model/ledger-entry.ts';
import type { EffectRecord, Operation, SagaState } from '../model/state.ts';

export type EntryOf<D extends LedgerEntry['direction']> = Extract<LedgerEntry, { direction: D }>;

export const working = (state: SagaState): SagaState => {
  // It was about a failure that somebody works on now, or about none.
  const { alert: _, ...rest } = state;
  return {
    ...rest,
    status: state.phase === 'undo' ? 'COMPENSATING' : 'RUNNING',
    pauseUntilMs: null,
    resumes: 0,
  };
};

export const withEffect = (state: SagaState, index: number, change: Partial<EffectRecord>): SagaState => ({
  ...state,
  effects: state.effects.map((effect, position) => (position === index ? { ...effect, ...change } : effect)),
});

/** The effect of a step in an epoch, or -1: one step has at most one effect per epoch (S5). */
export const effectIndex = (state: SagaState, step: number, epoch: number): number =>
  state.effects.findIndex((effect) => effect.step === step && effect.epoch === epoch);

export const operationOf = (state: SagaState): Operation => {
  if (state.operation === null)
    throw new RangeError('the ledger holds an outcome of an operation that was never started');
  return state.operation;
};

export const withOperation = (state: SagaState, change: Partial<Operation>): SagaState => ({
  ...state,
  operation: { ...operationOf(state), ...change },
});

/**
 * An attempt ended without a known effect. Attempts that never reached the tool, or whose caller was lost,
 * are counted apart, with the time since when all attempts were such. Any other attempt ends that time.
 */
export const countCall = (
  state: SagaState,
  entry: { reached?: false; callerLost?: true; at: string },
  counter: 'unreached' | 'unreachedProbes',
  change: Partial<Operation>,
): SagaState => {
  const { unreachedSinceMs, ...operation } = operationOf(state);
  const counted =
    entry.reached === false || entry.callerLost === true
      ? {
          [counter]: (operation[counter] ?? 0) + 1,
          unreachedSinceMs: unreachedSinceMs ?? Date.parse(entry.at),
        }
      : {};
  return { ...state, operation: { ...operation, ...counted, ...change } };
};

/** The members that pass from one attempt to the next of the same call. */
export const carried = (before: Operation | null): Partial<Operation> => ({
  ...(before?.unreached === undefined ? {} : { unreached: before.unreached }),
  ...(before?.unreachedSinceMs === undefined ? {} : { unreachedSinceMs: before.unreachedSinceMs }),
});

/**
 * Commands between the sagas of a tree: from a parent or the root to a child, and from a repaired child to
 * its parent.
 */
import type { Fact } from '../model/ledger-entry.ts';
import type { SagaState } from '../model/state.ts';
import { cancelFacts, isCancellable, resumed } from './decide-control.ts';
import { stepFact } from './facts.ts';
import { stepCountOf } from './plan-in-force.ts';
import type { SagaEvent, Surroundings } from './saga-events.ts';
import { turningFact } from './turning.ts';

/**
 * A running child is cancelled, and a completed one turns back. A child that is being undone, was undone or
 * could not be undone is left as it is. So the same command twice has the effect of one.
 */
export const unwindFacts = (state: SagaState, { parent }: SagaEvent & { type: 'unwind' }): Fact[] => {
  if (isCancellable(state)) return cancelFacts(state, { parent });
  if (state.status !== 'COMPLETED') return [];
  return [{ direction: 'saga', status: 'unwind_requested', parent }, resumed(state, 'unwound by its parent')];
};

export const sealFacts = (state: SagaState, { root }: SagaEvent & { type: 'seal' }): Fact[] =>
  state.status === 'COMPLETED' && state.sealed !== true
    ? [{ direction: 'saga', status: 'sealed', root }]
    : [];

/** A saga that ended because of this child goes on in a new execution. */
export const settledFacts = (
  state: SagaState,
  { effect: index, child }: SagaEvent & { type: 'child-settled' },
  around: Surroundings,
): Fact[] => {
  const effect = state.effects[index];
  const step = around.effectSteps?.get(index);
  if (effect?.status !== 'undo_failed' || effect.children !== true || step === undefined) return [];
  const settled: Fact = { direction: 'child', status: 'settled', ...stepFact(step, effect.epoch), child };
  const stands = state.phase === 'done' || state.status === 'PAUSED';
  return stands ? [settled, resumed(state, 'a child was repaired')] : [settled];
};

/** The saga is completed with its declared result. When that result cannot be made, the saga turns back. */
export const outputFacts = (
  state: SagaState,
  event: SagaEvent & { type: 'output-prepared' | 'output-unprepared' },
): Fact[] => {
  const due =
    state.phase === 'forward' &&
    state.operation === null &&
    state.wait === null &&
    state.cursor >= stepCountOf(state) &&
    turningFact(state) === undefined;
  if (!due) return [];
  if (event.type === 'output-prepared') {
    return [{ direction: 'saga', status: 'completed', output: event.output }];
  }
  const failure = { step: null, tool: null, error: event.error, outcome: 'rejected' as const };
  return [{ direction: 'saga', status: 'unwinding', failure }];
};

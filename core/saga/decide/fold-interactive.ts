/** Applies entries about submitted steps to the state (fold.ts). */
import type { SagaState } from '../model/state.ts';
import { type EntryOf, withEffect, working } from './fold-parts.ts';
import { withoutSlot } from './fold-permits.ts';

/** The step at `index` has ended. An interactive saga now waits for the next one; any other saga just goes on. */
export const afterStep = (state: SagaState, index: number, at: string): SagaState => {
  const { interactive } = state;
  if (interactive === undefined) return state;
  const untilMs = Date.parse(at) + interactive.idleTimeoutSeconds * 1000;
  return { ...state, cursor: index + 1, wait: { kind: 'next-step', untilMs } };
};

const submitted = (state: SagaState, entry: EntryOf<'step'> & { status: 'submitted' }): SagaState => ({
  ...working(state),
  generation: entry.generation,
  inline: true,
  wait: null,
  stepCount: entry.stepIndex + 1,
  submitted: { index: entry.stepIndex, step: entry.step, planHash: entry.planHash },
});

const refused = (state: SagaState, entry: EntryOf<'step'>): SagaState => {
  const { approvedHash: _, ...rest } = working(state);
  return afterStep({ ...rest, approvedStep: null }, entry.stepIndex, entry.at);
};

const unwinding = (state: SagaState, effect: number): SagaState => {
  const open = state.operation;
  const known =
    open === null ? state : withEffect(state, open.effect, { status: open.doubted ? 'unknown' : 'rejected' });
  return { ...known, phase: 'undo', status: 'COMPENSATING', operation: null, wait: null, undoFrom: effect };
};

/** Nothing is left of the step that was taken back alone. */
export const applySettled = (state: SagaState, effect: number, at: string): SagaState => {
  const { undoFrom: _, ...rest } = state;
  return afterStep(working({ ...rest, phase: 'forward' }), state.effects[effect]?.step ?? state.cursor, at);
};

export const applyStep = (state: SagaState, entry: EntryOf<'step'>): SagaState => {
  switch (entry.status) {
    case 'submitted':
      return submitted(state, entry);
    case 'refused':
      return refused(state, entry);
    case 'unwinding':
      return unwinding(working(state), entry.effect);
  }
};

/** The saga is put aside: only a person or another session ends this wait. Its slot is free for others. */
export const applyParked = (state: SagaState, sessionId: string | undefined): SagaState => ({
  ...withoutSlot(working(state)),
  status: 'PARKED',
  wait: { kind: 'parked', untilMs: null, ...(sessionId === undefined ? {} : { sessionId }) },
});

export const applyUnparked = (state: SagaState, at: string): SagaState =>
  afterStep(working(state), state.stepCount - 1, at);

/** No step came in time. People are asked now, and again at `untilMs`. */
export const applyIdle = (state: SagaState, untilMs: number): SagaState => ({
  ...working(state),
  status: 'AWAITING',
  wait: { kind: 'next-step', untilMs, asked: true },
});

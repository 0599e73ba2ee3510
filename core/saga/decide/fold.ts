/**
 * The state of a saga is the fold of its ledger, and nothing else may change it. `decide` produces entries,
 * and the new state is `apply` over them. So `fold(entries) == head.state` holds by construction, and tests
 * check it on stored data.
 */
import type { Failure, LedgerEntry } from '../model/ledger-entry.ts';
import type { EffectRecord, SagaState } from '../model/state.ts';
import { applyChild, branchesFailed, childrenWait, startChildren } from './fold-children.ts';
import {
  afterStep,
  applyIdle,
  applyParked,
  applySettled,
  applyStep,
  applyUnparked,
} from './fold-interactive.ts';
import {
  carried,
  countCall,
  type EntryOf,
  effectIndex,
  operationOf,
  withEffect,
  withOperation,
  working,
} from './fold-parts.ts';
import { applyLock, applySlot, withoutSlot } from './fold-permits.ts';
import { applyCancel, applyRewindRequest, applyRewound, applyUndoRequest } from './fold-rewind.ts';
import { applyByHandLater, applyOperator, applyUndo, isByHandLater } from './fold-undo.ts';

export const initialState = (stepCount: number): SagaState => ({
  status: 'RUNNING',
  phase: 'forward',
  epoch: 0,
  generation: 1,
  resumes: 0,
  stepCount,
  cursor: 0,
  effects: [],
  operation: null,
  wait: null,
  pauseUntilMs: null,
  approvedStep: null,
  cancelRequested: false,
  failure: null,
});

const startForward = (state: SagaState, entry: EntryOf<'forward'> & { status: 'started' }): SagaState => {
  if (entry.children !== undefined) return startChildren(state, entry, entry.children);
  const { approvedHash: _, ...rest } = state;
  const known = effectIndex(state, entry.stepIndex, entry.epoch);
  const atMs = Date.parse(entry.at);
  const effect: EffectRecord = {
    step: entry.stepIndex,
    epoch: entry.epoch,
    kind: entry.effect,
    status: 'started',
    startSeq: entry.seq,
    endSeq: null,
  };
  const effects = known === -1 ? [...state.effects, effect] : state.effects;
  const before = known === -1 ? null : state.operation;
  return {
    ...rest,
    effects,
    approvedStep: null,
    // The child may have waited for a lock that its root has got since.
    wait: null,
    operation: {
      effect: known === -1 ? effects.length - 1 : known,
      direction: 'forward',
      attempt: entry.attempt,
      probes: 0,
      stage: 'invoking',
      generation: state.generation,
      deadlineMs: entry.deadlineMs,
      firstMs: before?.firstMs ?? atMs,
      doubted: before?.doubted ?? false,
      answered: false,
      probed: null,
      argumentsHash: entry.argumentsHash,
      error: null,
      ...carried(before),
    },
  };
};

const commit = (state: SagaState, entry: EntryOf<'forward' | 'probe'>): SagaState => {
  const waited = childrenWait(state);
  const failed = waited === undefined ? 0 : branchesFailed(waited);
  const moved = withEffect(state, waited?.effect ?? operationOf(state).effect, {
    status: 'committed',
    endSeq: entry.seq,
    ...(failed === 0 ? {} : { branchesFailed: failed }),
  });
  const done = { ...moved, operation: null, wait: null, cursor: entry.stepIndex + 1 };
  return afterStep(done, entry.stepIndex, entry.at);
};

const applyForward = (state: SagaState, entry: EntryOf<'forward'>): SagaState => {
  switch (entry.status) {
    case 'started':
      return startForward(state, entry);
    case 'committed':
      return commit(state, entry);
    case 'rejected': {
      const waited = childrenWait(state);
      if (waited !== undefined) {
        return { ...withEffect(state, waited.effect, { status: 'rejected' }), wait: null };
      }
      if (!entry.final) return countCall(state, entry, 'unreached', { stage: 'retry', error: entry.error });
      const { effect, doubted } = operationOf(state);
      const settled = withEffect(state, effect, { status: doubted ? 'unknown' : 'rejected' });
      return doubted
        ? { ...settled, operation: null }
        : afterStep({ ...settled, operation: null }, entry.stepIndex, entry.at);
    }
    case 'unknown':
      return countCall(state, entry, 'unreached', {
        stage: 'doubt',
        doubted: true,
        answered: entry.answered,
        error: entry.error,
      });
  }
};

const applyProbe = (state: SagaState, entry: EntryOf<'probe'>): SagaState => {
  switch (entry.status) {
    case 'started': {
      const { probes } = operationOf(state);
      return withOperation(state, {
        direction: 'probe',
        stage: 'invoking',
        generation: state.generation,
        probes: probes + 1,
        deadlineMs: entry.deadlineMs,
      });
    }
    case 'committed':
      return commit(state, entry);
    case 'absent':
    case 'unknown': {
      const told = { direction: 'forward' as const, stage: 'doubt' as const, probed: entry.status };
      const settled = countCall(state, entry, 'unreachedProbes', told);
      const { effect } = operationOf(state);
      // A probe said that the call did not happen. An effect that nothing could take back then counts as not
      // happened. Any other is undone all the same.
      const cleared = entry.status === 'absent' && state.effects[effect]?.kind === 'irreversible';
      return cleared ? withOperation(settled, { doubted: false }) : settled;
    }
  }
};

/** The failure of a completed child that its parent unwinds. */
const UNWOUND: Failure = {
  step: null,
  tool: null,
  error: { name: 'UnwoundByParent', message: 'The parent of this saga is being undone.' },
  outcome: 'cancelled',
};

/** Turns to the way back. */
const unwind = (state: SagaState, entry: { failure: Failure }): SagaState => {
  const open = state.operation;
  let next = state;
  if (open !== null) {
    next = withEffect(state, open.effect, { status: open.doubted ? 'unknown' : 'rejected' });
  }
  const { undoFrom: _, ...rest } = next;
  return {
    ...rest,
    phase: 'undo',
    status: 'COMPENSATING',
    operation: null,
    wait: null,
    failure: entry.failure,
  };
};

const begin = (entry: EntryOf<'saga'> & { status: 'started' }): SagaState => {
  const { interactive, output } = entry;
  const state = initialState(entry.stepCount);
  const driven: SagaState = {
    ...state,
    ...(output === undefined ? {} : { output: true }),
    ...(entry.inline === true ? { inline: true } : {}),
    ...(entry.maxConcurrent === undefined ? {} : { slot: null }),
    ...(entry.locks === undefined ? {} : { locking: true }),
  };
  return interactive === undefined ? driven : afterStep({ ...driven, interactive }, -1, entry.at);
};

const resume = (state: SagaState, generation: number): SagaState => {
  const { inline: _, ...driven } = state;
  return { ...driven, generation, resumes: state.resumes + 1 };
};

const applySaga = (state: SagaState, entry: EntryOf<'saga'>): SagaState => {
  switch (entry.status) {
    case 'started':
      return begin(entry);
    case 'resumed':
      return resume(state, entry.generation);
    case 'cancel_requested':
      return applyCancel(state);
    case 'rewind_requested':
      return applyRewindRequest(state, entry);
    case 'rewound':
      return applyRewound(state, entry);
    case 'undo_requested':
      return applyUndoRequest(state, entry);
    case 'paused':
      return { ...state, status: 'PAUSED', pauseUntilMs: entry.untilMs };
    case 'unwinding':
      return unwind(working(state), entry);
    case 'unwind_requested':
      return unwind(working(state), { failure: UNWOUND });
    case 'sealed':
      return { ...state, sealed: true };
    case 'completed':
      return { ...withoutSlot(working(state)), phase: 'done', status: 'COMPLETED', wait: null };
    case 'compensated':
      return { ...withoutSlot(working(state)), phase: 'done', status: 'COMPENSATED', wait: null };
    case 'compensation_failed':
      return { ...withoutSlot(working(state)), phase: 'done', status: 'COMPENSATION_FAILED' };
    case 'step_settled':
      return applySettled(state, entry.effect, entry.at);
    case 'parked':
      return applyParked(state, entry.sessionId);
    case 'unparked':
      return applyUnparked(state, entry.at);
    case 'idle':
      return applyIdle(state, entry.untilMs);
  }
};

const applyApproval = (state: SagaState, entry: EntryOf<'approval'>): SagaState => {
  if (entry.status === 'requested') {
    const { stepIndex: step, untilMs, argumentsHash } = entry;
    const wait = { kind: 'approval' as const, step, untilMs, argumentsHash };
    return { ...withoutSlot(working(state)), status: 'AWAITING', wait };
  }
  const answered = { ...working(state), wait: null };
  if (entry.status !== 'approved') return answered;
  const approvedHash = state.wait?.kind === 'approval' ? state.wait.argumentsHash : undefined;
  return { ...answered, approvedStep: entry.stepIndex, ...(approvedHash && { approvedHash }) };
};

export const apply = (state: SagaState, entry: LedgerEntry): SagaState => {
  switch (entry.direction) {
    case 'saga':
      return applySaga(state, entry);
    case 'approval':
      return applyApproval(state, entry);
    case 'forward':
      return applyForward(working(state), entry);
    case 'probe':
      return applyProbe(working(state), entry);
    case 'step':
      return applyStep(state, entry);
    case 'undo':
      return applyUndo(working(state), entry);
    case 'child':
      return applyChild(working(state), entry);
    case 'lock':
      return applyLock(state, entry);
    case 'slot':
      return applySlot(state, entry);
    case 'alert':
      return { ...state, alert: { status: entry.status, generation: state.generation } };
    case 'operator':
      return isByHandLater(state, entry)
        ? applyByHandLater(state, entry)
        : applyOperator(working(state), entry);
  }
};

/** The state after a whole ledger, oldest entry first. */
export const fold = (entries: readonly LedgerEntry[]): SagaState =>
  entries.reduce((state, entry) => apply(state, entry), initialState(0));

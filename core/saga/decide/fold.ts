/**
 * The state of a saga is its ledger, folded. Nothing else may change it: `decide` produces entries, and the new state is
 * `apply` over them, so `fold(entries) == head.state` holds by construction and is tested on what is stored.
 */
import type { EffectRecord, EffectStatus, LedgerEntry, Operation, SagaState } from '../model.ts';

type EntryOf<D extends LedgerEntry['direction']> = Extract<LedgerEntry, { direction: D }>;

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

const working = (state: SagaState): SagaState => ({
  ...state,
  status: state.phase === 'undo' ? 'COMPENSATING' : 'RUNNING',
  pauseUntilMs: null,
  resumes: 0,
});

const withEffect = (state: SagaState, index: number, change: Partial<EffectRecord>): SagaState => ({
  ...state,
  effects: state.effects.map((effect, position) => (position === index ? { ...effect, ...change } : effect)),
});

/** The effect of a step in an epoch, or -1: one step has at most one effect per epoch (S5). */
const effectIndex = (state: SagaState, step: number, epoch: number): number =>
  state.effects.findIndex((effect) => effect.step === step && effect.epoch === epoch);

const operationOf = (state: SagaState): Operation => {
  if (state.operation === null)
    throw new RangeError('the ledger holds an outcome of an operation that was never started');
  return state.operation;
};

const withOperation = (state: SagaState, change: Partial<Operation>): SagaState => ({
  ...state,
  operation: { ...operationOf(state), ...change },
});

const startForward = (state: SagaState, entry: EntryOf<'forward'> & { status: 'started' }): SagaState => {
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
    },
  };
};

const commit = (state: SagaState, entry: EntryOf<'forward' | 'probe'>): SagaState => {
  const { effect } = operationOf(state);
  const moved = withEffect(state, effect, { status: 'committed', endSeq: entry.seq });
  return { ...moved, operation: null, cursor: entry.stepIndex + 1 };
};

const applyForward = (state: SagaState, entry: EntryOf<'forward'>): SagaState => {
  switch (entry.status) {
    case 'started':
      return startForward(state, entry);
    case 'committed':
      return commit(state, entry);
    case 'rejected': {
      if (!entry.final) return withOperation(state, { stage: 'retry', error: entry.error });
      const { effect, doubted } = operationOf(state);
      const settled = withEffect(state, effect, { status: doubted ? 'unknown' : 'rejected' });
      return { ...settled, operation: null };
    }
    case 'unknown':
      return withOperation(state, {
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
      const settled = withOperation(state, { direction: 'forward', stage: 'doubt', probed: entry.status });
      const { effect } = operationOf(state);
      // What nothing takes back and a probe denied did not happen; anything else is undone all the same.
      const cleared = entry.status === 'absent' && state.effects[effect]?.kind === 'irreversible';
      return cleared ? withOperation(settled, { doubted: false }) : settled;
    }
  }
};

const finishUndo = (state: SagaState, step: number, epoch: number, status: EffectStatus): SagaState => ({
  ...withEffect(state, effectIndex(state, step, epoch), { status }),
  operation: null,
});

const applyUndo = (state: SagaState, entry: EntryOf<'undo'>): SagaState => {
  switch (entry.status) {
    case 'started':
      return {
        ...state,
        operation: {
          effect: effectIndex(state, entry.stepIndex, entry.epoch),
          direction: 'undo',
          attempt: entry.attempt,
          probes: 0,
          stage: 'invoking',
          generation: state.generation,
          deadlineMs: entry.deadlineMs,
          firstMs: state.operation?.firstMs ?? Date.parse(entry.at),
          doubted: false,
          answered: false,
          probed: null,
          argumentsHash: '',
          error: null,
        },
      };
    case 'committed':
      return finishUndo(state, entry.stepIndex, entry.epoch, 'undone');
    case 'rejected':
      return withOperation(state, { stage: 'retry', error: entry.error });
    case 'unknown':
      return withOperation(state, { stage: 'doubt', error: entry.error });
    case 'failed':
      return finishUndo(state, entry.stepIndex, entry.epoch, 'undo_failed');
    case 'blocked':
      return finishUndo(state, entry.stepIndex, entry.epoch, 'blocked');
  }
};

/** What was blocked by an effect that a person dealt with may go on. */
const unblock = (state: SagaState): SagaState => ({
  ...state,
  effects: state.effects.map((effect) =>
    effect.status === 'blocked'
      ? { ...effect, status: effect.endSeq === null ? ('unknown' as const) : ('committed' as const) }
      : effect,
  ),
});

const applyOperator = (state: SagaState, entry: EntryOf<'operator'>): SagaState => {
  const index = effectIndex(state, entry.stepIndex, entry.epoch);
  const again = state.effects[index]?.endSeq === null ? 'unknown' : 'committed';
  const status = entry.status === 'retried' ? again : entry.status;
  return { ...unblock(withEffect(state, index, { status })), phase: 'undo', status: 'COMPENSATING' };
};

/** Turns to the way back. */
const unwind = (state: SagaState, entry: EntryOf<'saga'> & { status: 'unwinding' }): SagaState => {
  const open = state.operation;
  let next = state;
  if (open !== null) {
    next = withEffect(state, open.effect, { status: open.doubted ? 'unknown' : 'rejected' });
  }
  return {
    ...next,
    phase: 'undo',
    status: 'COMPENSATING',
    operation: null,
    wait: null,
    failure: entry.failure,
  };
};

const applySaga = (state: SagaState, entry: EntryOf<'saga'>): SagaState => {
  switch (entry.status) {
    case 'started':
      return initialState(entry.stepCount);
    case 'resumed':
      return { ...state, generation: entry.generation, resumes: state.resumes + 1 };
    case 'cancel_requested':
      // A pause ends here; what must be waited for is decided again, from deadlines.
      return { ...working(state), cancelRequested: true };
    case 'paused':
      return { ...state, status: 'PAUSED', pauseUntilMs: entry.untilMs };
    case 'unwinding':
      return unwind(working(state), entry);
    case 'completed':
      return { ...working(state), phase: 'done', status: 'COMPLETED' };
    case 'compensated':
      return { ...working(state), phase: 'done', status: 'COMPENSATED' };
    case 'compensation_failed':
      return { ...working(state), phase: 'done', status: 'COMPENSATION_FAILED' };
  }
};

const applyApproval = (state: SagaState, entry: EntryOf<'approval'>): SagaState => {
  if (entry.status === 'requested') {
    const { stepIndex: step, untilMs, argumentsHash } = entry;
    const wait = { kind: 'approval' as const, step, untilMs, ...(argumentsHash && { argumentsHash }) };
    return { ...working(state), status: 'AWAITING', wait };
  }
  const answered = { ...working(state), wait: null };
  if (entry.status !== 'approved') return answered;
  const approvedHash = state.wait?.argumentsHash;
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
    case 'undo':
      return applyUndo(working(state), entry);
    case 'operator':
      return applyOperator(working(state), entry);
  }
};

/** The state after a whole ledger, oldest entry first. */
export const fold = (entries: readonly LedgerEntry[]): SagaState =>
  entries.reduce((state, entry) => apply(state, entry), initialState(0));

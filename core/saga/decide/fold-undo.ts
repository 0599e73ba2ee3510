/** Applies entries about compensators and operators to the state (fold.ts). */
import type { UndoProgress } from '../model/ledger-entry.ts';
import type { EffectRecord, EffectStatus, Operation, SagaState } from '../model/state.ts';
import { startUndoChildren } from './fold-children.ts';
import { carried, countCall, type EntryOf, effectIndex, withEffect } from './fold-parts.ts';
import { resourceMark } from './resource-marks.ts';

/** `undo` and `resource` are needed only while the effect stands. */
const endUndo = (
  state: SagaState,
  step: number,
  epoch: number,
  status: EffectStatus,
  trouble: { undo?: UndoProgress; resource?: string } = {},
): SagaState => {
  const index = effectIndex(state, step, epoch);
  const effects = state.effects.map((effect, position) => {
    if (position !== index) return effect;
    const { undo: _, resource: __, ...rest } = effect;
    return { ...rest, status, ...trouble };
  });
  return { ...state, effects, operation: null };
};

const resourceOf = (operation: Operation | null): { resource?: string } =>
  operation?.resource === undefined ? {} : { resource: operation.resource };

const marked = ({ resourceKey }: { resourceKey?: string | null }): { resource?: string } =>
  resourceKey === undefined ? {} : { resource: resourceMark(resourceKey) };

const openStatus = (effect: EffectRecord | undefined): EffectStatus =>
  effect?.endSeq == null ? 'unknown' : 'committed';

/**
 * Lets blocked effects go on: all of them, or those with this mark. A step that runs sagas has no mark of its
 * own, so it is tried again each time.
 */
const unblock = (state: SagaState, mark?: string): SagaState => ({
  ...state,
  effects: state.effects.map((effect) => {
    const touched = mark === undefined || effect.resource === mark || effect.children === true;
    return effect.status === 'blocked' && touched ? { ...effect, status: openStatus(effect) } : effect;
  }),
});

/**
 * Compensators that failed are called again, as on an operator's retry. Children are worked on themselves,
 * and then this saga decides again.
 */
export const reopenFailed = (state: SagaState): SagaState =>
  unblock({
    ...state,
    effects: state.effects.map((effect) =>
      effect.status === 'undo_failed' && effect.children !== true
        ? { ...effect, status: openStatus(effect) }
        : effect,
    ),
  });

const startUndo = (state: SagaState, entry: EntryOf<'undo'> & { status: 'started' }): SagaState => {
  if (entry.children !== undefined) return startUndoChildren(state, entry, entry.children);
  const index = effectIndex(state, entry.stepIndex, entry.epoch);
  const before = state.operation;
  const { undo } = state.effects[index] ?? {};
  return {
    ...state,
    operation: {
      effect: index,
      direction: 'undo',
      attempt: entry.attempt,
      probes: 0,
      stage: 'invoking',
      generation: state.generation,
      deadlineMs: entry.deadlineMs,
      firstMs: before?.firstMs ?? undo?.sinceMs ?? Date.parse(entry.at),
      doubted: false,
      answered: false,
      probed: null,
      argumentsHash: '',
      error: null,
      ...(undo === undefined || undo.unreached === 0 ? {} : { unreached: undo.unreached }),
      ...resourceOf(before),
      ...marked(entry),
      ...carried(before),
    },
  };
};

export const applyUndo = (state: SagaState, entry: EntryOf<'undo'>): SagaState => {
  const end = (status: EffectStatus, trouble?: { undo?: UndoProgress; resource?: string }): SagaState => ({
    ...endUndo(state, entry.stepIndex, entry.epoch, status, trouble),
    wait: null,
  });
  switch (entry.status) {
    case 'started':
      return startUndo(state, entry);
    case 'committed': {
      const before = state.effects[effectIndex(state, entry.stepIndex, entry.epoch)];
      // While this effect was put aside, earlier effects on its resource were left alone.
      return before?.undo === undefined ? end('undone') : unblock(end('undone'), before.resource);
    }
    case 'rejected':
      return countCall(state, entry, 'unreached', { stage: 'retry', error: entry.error });
    case 'unknown':
      return countCall(state, entry, 'unreached', { stage: 'doubt', error: entry.error });
    case 'delayed': {
      const { attempts, unreached, sinceMs, untilMs } = entry;
      return end('undo_delayed', {
        undo: { attempts, unreached, sinceMs, untilMs },
        ...resourceOf(state.operation),
      });
    }
    case 'failed':
      return end('undo_failed', resourceOf(state.operation));
    case 'blocked': {
      const { undo } = state.effects[effectIndex(state, entry.stepIndex, entry.epoch)] ?? {};
      return end('blocked', { ...(undo === undefined ? {} : { undo }), ...marked(entry) });
    }
  }
};

/** A delayed effect is tried now, and so is an operation that waits for its next attempt. */
const hurry = (state: SagaState, index: number, at: string): SagaState => {
  const effects = state.effects.map((effect, position) =>
    position === index && effect.undo !== undefined
      ? { ...effect, undo: { ...effect.undo, untilMs: Date.parse(at) } }
      : effect,
  );
  const open =
    state.operation?.effect === index ? { ...state.operation, hurried: true as const } : state.operation;
  return { ...state, effects, operation: open };
};

/** Whether a person took back by hand an effect that had been let stand. */
export const isByHandLater = (state: SagaState, { status, stepIndex, epoch }: EntryOf<'operator'>): boolean =>
  status === 'resolved' && state.effects[effectIndex(state, stepIndex, epoch)]?.status === 'skipped';

/** Only recorded: the saga had gone on without this effect, and does not stop for it. */
export const applyByHandLater = (state: SagaState, { stepIndex, epoch }: EntryOf<'operator'>): SagaState =>
  withEffect(state, effectIndex(state, stepIndex, epoch), { status: 'resolved' });

export const applyOperator = (state: SagaState, entry: EntryOf<'operator'>): SagaState => {
  const index = effectIndex(state, entry.stepIndex, entry.epoch);
  const effect = state.effects[index];
  const going = { phase: 'undo', status: 'COMPENSATING' } as const;
  if (entry.status !== 'retried') {
    const { operation } = state;
    return { ...unblock(endUndo(state, entry.stepIndex, entry.epoch, entry.status)), operation, ...going };
  }
  if (effect?.status === 'undo_delayed' || state.operation?.effect === index) {
    return { ...hurry(state, index, entry.at), ...going };
  }
  return { ...unblock(withEffect(state, index, { status: openStatus(effect) })), ...going };
};

/** Prepares data for `decide`: whether an effect may be undone now. */
import { mergedMarks, resourceMark, shareMark, type Touched } from '../decide/resource-marks.ts';
import type { SagaEvent } from '../decide/saga-events.ts';
import type { EffectRecord, EffectStatus, SagaState } from '../model/state.ts';
import { namedIn, recordedEnds } from './prepare-children.ts';
import type { Reading } from './reading.ts';

const resourceOf = async (reading: Reading, seq: number): Promise<string | undefined> => {
  const entry = await reading.store.getEntry(reading.head.sagaId, seq);
  return entry?.direction === 'forward' && entry.status === 'started' ? entry.resourceKey : undefined;
};

/**
 * Marks of the resource keys that the children of an effect touched. Only of the children that `wanted`
 * selects.
 */
const childMarks = async (
  reading: Reading,
  effect: EffectRecord,
  wanted: (status: string) => boolean = () => true,
): Promise<Touched> => {
  const ends = await recordedEnds(reading, effect);
  const chosen = [...ends.values()].filter(({ status }) => wanted(status));
  return mergedMarks(chosen.map(({ resources = {} }) => resources));
};

const STANDS: readonly EffectStatus[] = ['undo_delayed', 'undo_failed', 'blocked'];

/**
 * The marks that an effect which was not undone still holds. For children: the marks of those that are not
 * undone.
 */
const heldMarks = async (reading: Reading, effect: EffectRecord): Promise<Touched> => {
  if (effect.children === true) {
    return childMarks(reading, effect, (status) => status !== 'COMPENSATED' && status !== 'REFUSED');
  }
  return effect.resource === undefined ? {} : { [effect.resource]: 0 };
};

/** The later effect on the same resource that still stands and prevents this one from being undone (S7). */
const blockerOf = async (
  reading: Reading,
  state: SagaState,
  target: number,
  marks: Touched,
): Promise<string | undefined> => {
  for (const effect of state.effects.slice(target + 1)) {
    if (!STANDS.includes(effect.status)) continue;
    const held = await heldMarks(reading, effect);
    if (shareMark(marks, held)) return (await reading.step(effect.step, state, effect.epoch)).id;
  }
  return undefined;
};

export const prepareUndo = async (
  reading: Reading,
  state: SagaState,
  target: number,
): Promise<SagaEvent & { type: 'undo-prepared' }> => {
  const effect = state.effects[target];
  if (effect === undefined) throw new RangeError(`there is no effect ${target}`);
  const step = await reading.step(effect.step, state, effect.epoch);
  const prepared = { type: 'undo-prepared' as const, effect: target, step };
  if (step.kind === 'children') {
    const started = await reading.store.getEntry(reading.head.sagaId, effect.startSeq);
    const blockedBy = await blockerOf(reading, state, target, await childMarks(reading, effect));
    return {
      ...prepared,
      children: namedIn(started).length,
      ...(blockedBy === undefined ? {} : { blockedBy }),
    };
  }
  if (step.resourceKey === undefined) return prepared;
  const resourceKey = await resourceOf(reading, effect.startSeq);
  if (resourceKey === undefined) return prepared;
  const blockedBy = await blockerOf(reading, state, target, { [resourceMark(resourceKey)]: 0 });
  return { ...prepared, resourceKey, ...(blockedBy === undefined ? {} : { blockedBy }) };
};

/** Prepares data for `decide`: the arguments of a step, and whether an effect may be undone now. */
import type { Json, JsonObject } from '../../../contract/json.ts';
import { isWalkbackError } from '../../shared/errors.ts';
import { resourceMark } from '../decide/fold-undo.ts';
import type { SagaEvent } from '../decide/saga-events.ts';
import type { SagaHead } from '../model/head.ts';
import type { Fact } from '../model/ledger-entry.ts';
import type { PinnedStep } from '../model/plan.ts';
import type { EffectRecord, EffectStatus, SagaState } from '../model/state.ts';
import { type ExpressionScope, evaluateExpression, resolveArguments } from '../plan/expressions.ts';
import { canonicalJson, hashJson } from '../plan/json.ts';
import { schemaViolations } from '../plan/schema-check.ts';
import type { Evaluate, SagaStore } from '../ports.ts';
import { MAX_RESULT_BYTES } from '../tools/tool-protocol.ts';
import { stepOfSaga } from './step-of-saga.ts';

/** A saga as it stood when the move began, with its pinned steps. */
export interface Reading {
  store: SagaStore;
  head: SagaHead;
  /** The step at this place of the plan, as it is (or was) in an epoch of this state. */
  step(index: number, state: SagaState, epoch?: number): Promise<PinnedStep>;
}

/** Caches the reads of one move, since pinned steps never change. `fresh`: pinned by this very move. */
export const readingOf = (store: SagaStore, head: SagaHead, fresh?: PinnedStep): Reading => {
  const steps = new Map<string, Promise<PinnedStep>>();
  return {
    store,
    head,
    step: async (index, state, epoch = state.epoch) => {
      if (fresh?.index === index) return fresh;
      const key = `${epoch} ${index}`;
      const known = steps.get(key) ?? stepOfSaga(store, head, { state, index, epoch });
      steps.set(key, known);
      return known;
    },
  };
};

/** The fact at a place in the ledger: just decided, or stored. */
const factAt = async (reading: Reading, fresh: readonly Fact[], seq: number): Promise<Fact | undefined> =>
  seq >= reading.head.seq ? fresh[seq - reading.head.seq] : reading.store.getEntry(reading.head.sagaId, seq);

const scopeOf = async (
  reading: Reading,
  state: SagaState,
  fresh: readonly Fact[],
  step: PinnedStep,
): Promise<ExpressionScope> => {
  const steps: ExpressionScope['steps'] = {};
  for (const index of step.uses) {
    const effect = state.effects.findLast((one) => one.step === index && one.status === 'committed');
    const fact = effect?.endSeq == null ? undefined : await factAt(reading, fresh, effect.endSeq);
    if (fact?.status !== 'committed' || !('result' in fact)) continue;
    steps[fact.step] = { result: fact.result, externalRef: fact.externalRef ?? null };
  }
  const input = await reading.store.getPinnedInput(reading.head.sagaId, reading.head.inputHash);
  return { input, steps };
};

/**
 * The key is only compared. An expression may make it of any length, and every entry of the step would
 * carry it.
 */
const MAX_RESOURCE_KEY_LENGTH = 500;

const resourceKeyOf = (resource: Json): string => {
  const text = typeof resource === 'string' ? resource : canonicalJson(resource);
  return text.length <= MAX_RESOURCE_KEY_LENGTH ? text : hashJson(text);
};

/** Problems in arguments that use results. Only now can they be checked against the pinned schema (S8). */
const argumentProblem = async (
  { store }: Reading,
  { id, tool, version, inputSchemaHash }: PinnedStep,
  resolved: JsonObject,
): Promise<string | undefined> => {
  if (Buffer.byteLength(canonicalJson(resolved)) > MAX_RESULT_BYTES) {
    return `The arguments of step ${id} take more than ${MAX_RESULT_BYTES} bytes.`;
  }
  if (inputSchemaHash === undefined) return undefined;
  const schema = (await store.getTool(tool, version))?.schemas.input;
  if (schema === undefined || hashJson(schema) !== inputSchemaHash) {
    return `The catalog does not have the schema of ${tool}@${version} that step ${id} was pinned with.`;
  }
  const [violation] = schemaViolations(schema, resolved);
  return violation === undefined
    ? undefined
    : `The arguments of step ${id} do not match the schema of ${tool}@${version}: ${violation}.`;
};

export const prepareStep = async (
  reading: Reading,
  state: SagaState,
  fresh: readonly Fact[],
  index: number,
  evaluate: Evaluate,
): Promise<SagaEvent & { type: 'prepared' | 'unprepared' }> => {
  const step = await reading.step(index, state);
  try {
    const resolved =
      step.literal === true
        ? step.arguments
        : await resolveArguments(step.arguments, await scopeOf(reading, state, fresh, step), evaluate);
    const message = await argumentProblem(reading, step, resolved);
    if (message !== undefined) {
      return { type: 'unprepared', step, error: { name: 'InvalidArguments', message } };
    }
    const resource =
      step.resourceKey === undefined
        ? undefined
        : await evaluateExpression(step.resourceKey, resolved, evaluate);
    return {
      type: 'prepared',
      step,
      arguments: resolved,
      argumentsHash: hashJson(resolved),
      ...(resource === undefined ? {} : { resourceKey: resourceKeyOf(resource) }),
    };
  } catch (error) {
    if (!isWalkbackError(error, 'ArgumentsUnresolved')) throw error;
    const message = `The arguments of step ${step.id} cannot be made: ${error.message}`;
    return { type: 'unprepared', step, error: { name: error.name, message } };
  }
};

const resourceOf = async (reading: Reading, seq: number): Promise<string | undefined> => {
  const entry = await reading.store.getEntry(reading.head.sagaId, seq);
  return entry?.direction === 'forward' && entry.status === 'started' ? entry.resourceKey : undefined;
};

const STANDS: readonly EffectStatus[] = ['undo_delayed', 'undo_failed', 'blocked'];

/**
 * For an effect whose compensator did not work, the state has the resource, so this reads nothing. Only
 * older versions left it to the ledger.
 */
const isOn = async (reading: Reading, effect: EffectRecord, resource: string): Promise<boolean> =>
  effect.resource === undefined
    ? (await resourceOf(reading, effect.startSeq)) === resource
    : effect.resource === resourceMark(resource);

/** A later effect on the same resource that still stands keeps this one from being undone (S7). */
const blockerOf = async (
  reading: Reading,
  state: SagaState,
  target: number,
  resource: string,
): Promise<string | undefined> => {
  for (const effect of state.effects.slice(target + 1)) {
    if (!STANDS.includes(effect.status)) continue;
    if (await isOn(reading, effect, resource))
      return (await reading.step(effect.step, state, effect.epoch)).id;
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
  if (step.resourceKey === undefined) return prepared;
  const resourceKey = await resourceOf(reading, effect.startSeq);
  if (resourceKey === undefined) return prepared;
  const blockedBy = await blockerOf(reading, state, target, resourceKey);
  return { ...prepared, resourceKey, ...(blockedBy === undefined ? {} : { blockedBy }) };
};

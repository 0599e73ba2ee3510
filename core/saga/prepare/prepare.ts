/** Prepares data for `decide`: the arguments of a step, and whether an effect may be undone now. */
import type { Json, JsonObject } from '../../../contract/json.ts';
import { canonicalJson, hashJson } from '../../shared/canonical-json.ts';
import { isWalkbackError, WalkbackError } from '../../shared/errors.ts';
import type { SagaEvent } from '../decide/saga-events.ts';
import type { Fact } from '../model/ledger-entry.ts';
import type { PinnedToolStep } from '../model/plan.ts';
import type { SagaState } from '../model/state.ts';
import { MAX_RESULT_BYTES } from '../model/tool.ts';
import { type ExpressionScope, evaluateExpression, resolveArguments } from '../plan/expressions.ts';
import { schemaViolations } from '../plan/schema-check.ts';
import type { Evaluate } from '../ports.ts';
import { expectedMoney } from './price.ts';
import type { Reading } from './reading.ts';

/** The fact at a place in the ledger: just decided, or stored. */
export const factAt = async (
  reading: Reading,
  fresh: readonly Fact[],
  seq: number,
): Promise<Fact | undefined> =>
  seq >= reading.head.seq ? fresh[seq - reading.head.seq] : reading.store.getEntry(reading.head.sagaId, seq);

/** What expressions see: the input, and the results of the steps at these places. */
export const scopeOf = async (
  reading: Reading,
  state: SagaState,
  fresh: readonly Fact[],
  uses: readonly number[],
): Promise<ExpressionScope> => {
  const steps: ExpressionScope['steps'] = {};
  for (const index of uses) {
    const effect = state.effects.findLast((one) => one.step === index && one.status === 'committed');
    const fact = effect?.endSeq == null ? undefined : await factAt(reading, fresh, effect.endSeq);
    if (fact?.status !== 'committed' || !('result' in fact)) continue;
    steps[fact.step] = { result: fact.result, externalRef: fact.externalRef ?? null };
  }
  const input = await reading.store.getPinnedInput(reading.head.sagaId, reading.head.inputHash);
  return { input, steps };
};

/**
 * Longest resource key. The key is only compared, but an expression could make it of any length, and every
 * entry of the step carries it.
 */
const MAX_RESOURCE_KEY_LENGTH = 500;

export const resourceKeyOf = (resource: Json): string => {
  const text = typeof resource === 'string' ? resource : canonicalJson(resource);
  return text.length <= MAX_RESOURCE_KEY_LENGTH ? text : hashJson(text);
};

/** Problems in arguments that use results. Only now can they be checked against the pinned schema (S8). */
const argumentProblem = async (
  { store }: Reading,
  { id, tool, version, inputSchemaHash }: PinnedToolStep,
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

/** The value, or an error that says what the expressions could not make. */
const made = async <Value>(what: string, make: () => Promise<Value>): Promise<Value> => {
  try {
    return await make();
  } catch (cause) {
    if (!isWalkbackError(cause, 'ArgumentsUnresolved')) throw cause;
    throw new WalkbackError('ArgumentsUnresolved', `${what}: ${cause.message}`, { cause });
  }
};

const resolvedOf = (
  reading: Reading,
  state: SagaState,
  fresh: readonly Fact[],
  step: PinnedToolStep,
  evaluate: Evaluate,
): Promise<JsonObject> =>
  made(`The arguments of step ${step.id} cannot be made`, async () =>
    step.literal === true
      ? step.arguments
      : resolveArguments(step.arguments, await scopeOf(reading, state, fresh, step.uses), evaluate),
  );

/** The expression belongs to the tool. When it finds nothing, the author of the step cannot fix that. */
const resourceOf = async (
  { id, tool, version, resourceKey }: PinnedToolStep,
  resolved: JsonObject,
  evaluate: Evaluate,
): Promise<{ resourceKey?: string }> => {
  if (resourceKey === undefined) return {};
  const what = `The resource key that ${tool}@${version} declares cannot be made of the arguments of step ${id}`;
  const resource = await made(what, () => evaluateExpression(resourceKey, resolved, evaluate));
  return { resourceKey: resourceKeyOf(resource) };
};

export const prepareStep = async (
  reading: Reading,
  state: SagaState,
  fresh: readonly Fact[],
  step: PinnedToolStep,
  evaluate: Evaluate,
): Promise<SagaEvent & { type: 'prepared' | 'unprepared' }> => {
  try {
    const resolved = await resolvedOf(reading, state, fresh, step, evaluate);
    const message = await argumentProblem(reading, step, resolved);
    if (message !== undefined) {
      return { type: 'unprepared', step, error: { name: 'InvalidArguments', message } };
    }
    const resource = await resourceOf(step, resolved, evaluate);
    const asks = step.approval !== undefined && state.approvedStep !== step.index;
    const money = asks ? await expectedMoney(step, resolved, evaluate) : undefined;
    return {
      type: 'prepared',
      step,
      arguments: resolved,
      argumentsHash: hashJson(resolved),
      ...resource,
      ...(money === undefined ? {} : { money }),
    };
  } catch (error) {
    if (!isWalkbackError(error, 'ArgumentsUnresolved')) throw error;
    return { type: 'unprepared', step, error: { name: error.name, message: error.message } };
  }
};

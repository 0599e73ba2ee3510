/**
 * Prepares data about children for `decide`: who they are, what became of them, and the declared result of a
 * saga.
 */
import type { Json, JsonObject } from '../../../contract/json.ts';
import type { SagaStatus } from '../../../contract/saga-observation.ts';
import { mapAtOnce } from '../../shared/at-once.ts';
import { canonicalJson, hashJson } from '../../shared/canonical-json.ts';
import { isWalkbackError } from '../../shared/errors.ts';
import { jsonBytes } from '../../shared/json-bytes.ts';
import { plural } from '../../shared/plural.ts';
import { childStatus, letterOf } from '../decide/child-letters.ts';
import { boundedMarks, mergedMarks, resourceMark, type Touched } from '../decide/resource-marks.ts';
import type { SagaEvent, SeenChild } from '../decide/saga-events.ts';
import {
  type ChildEnd,
  type ChildrenWait,
  isAlone,
  type NamedChild,
  type PinnedChild,
  type PinnedChildrenStep,
} from '../model/children.ts';
import { isChildOf, type SagaHead } from '../model/head.ts';
import { childId } from '../model/keys.ts';
import type { Fact, LedgerEntry } from '../model/ledger-entry.ts';
import type { EffectRecord, SagaState } from '../model/state.ts';
import { MAX_RESULT_BYTES } from '../model/tool.ts';
import { resolveArguments } from '../plan/expressions.ts';
import { namedProblem } from '../plan/named-size.ts';
import { listOf } from '../plan/plan-children.ts';
import { MAX_CHILDREN, MAX_STEPS } from '../plan/plan-shape.ts';
import { schemaViolations } from '../plan/schema-check.ts';
import type { Evaluate, SagaStore } from '../ports.ts';
import { factAt, scopeOf } from './prepare.ts';
import type { Reading } from './reading.ts';

/** Children are read side by side, but 40 of them are not 40 requests at once. */
const READS_AT_ONCE = 8;

type Problem = { name: string; message: string };
type Inputs = { inputs: JsonObject; children: (PinnedChild & { alone: boolean })[] };

const inputsOf = async (
  step: PinnedChildrenStep,
  scope: Parameters<typeof resolveArguments>[1],
  evaluate: Evaluate,
): Promise<Inputs | Problem> => {
  const { children, each } = step;
  if (each === undefined) {
    const templates = Object.fromEntries(children.map(({ branch, input }) => [branch, input]));
    const inputs = await resolveArguments(templates, scope, evaluate);
    return { inputs, children: children.map((child) => ({ ...child, alone: isAlone(step) })) };
  }
  const { list } = await resolveArguments({ list: listOf(each) }, scope, evaluate);
  const [pinned] = children;
  if (!Array.isArray(list) || pinned === undefined)
    return { name: 'InvalidArguments', message: 'each makes no list' };
  if (list.length > MAX_CHILDREN) {
    const message = `Step ${step.id} would have ${list.length} children; at most ${MAX_CHILDREN} are possible.`;
    return { name: 'TooManyChildren', message };
  }
  if (list.length * pinned.flatCount > MAX_STEPS) {
    const message = `The children of step ${step.id} would have ${plural(list.length * pinned.flatCount, 'step')}; at most ${MAX_STEPS} are possible.`;
    return { name: 'TooManyChildren', message };
  }
  return {
    inputs: Object.fromEntries(list.map((input, at): [string, Json] => [String(at), input])),
    children: list.map((_, at) => ({ ...pinned, branch: String(at), alone: false })),
  };
};

const inputProblem = async (
  store: SagaStore,
  step: PinnedChildrenStep,
  { branch, definition, inputSchemaHash }: PinnedChild,
  input: Json,
): Promise<string | undefined> => {
  if (definition === undefined || inputSchemaHash === undefined) return undefined;
  const at = definition.lastIndexOf('@');
  const stored = await store.getDefinition(definition.slice(0, at), definition.slice(at + 1));
  if (stored === undefined || hashJson(stored.input) !== inputSchemaHash) {
    return `The catalog does not have the definition ${definition} that step ${step.id} was pinned with.`;
  }
  const [violation] = schemaViolations(stored.input, input);
  return violation === undefined
    ? undefined
    : `The input of ${step.id}/${branch} does not match the schema of ${definition}: ${violation}.`;
};

/** The children of the step at the cursor, with their inputs. None of them exists yet. */
export const prepareChildrenStep = async (
  reading: Reading,
  state: SagaState,
  fresh: readonly Fact[],
  step: PinnedChildrenStep,
  evaluate: Evaluate,
): Promise<SagaEvent & { type: 'prepared' | 'unprepared' }> => {
  const refused = (name: string, message: string) => ({
    type: 'unprepared' as const,
    step,
    error: { name, message },
  });
  try {
    const scope = await scopeOf(reading, state, fresh, step.uses);
    const made = await inputsOf(step, scope, evaluate);
    if ('message' in made) return refused(made.name, made.message);
    const { inputs, children } = made;
    if (Buffer.byteLength(canonicalJson(inputs)) > MAX_RESULT_BYTES) {
      return refused(
        'InvalidArguments',
        `The inputs of step ${step.id} take more than ${MAX_RESULT_BYTES} bytes.`,
      );
    }
    const named: NamedChild[] = [];
    for (const {
      branch,
      alone,
      planHash,
      stepCount,
      definition,
      output,
      interactive,
      ...pinned
    } of children) {
      const input = inputs[branch] ?? null;
      const problem = await inputProblem(
        reading.store,
        step,
        { ...pinned, branch, planHash, stepCount, ...(definition === undefined ? {} : { definition }) },
        input,
      );
      if (problem !== undefined) return refused('InvalidArguments', problem);
      named.push({
        branch,
        sagaId: childId(reading.head.sagaId, step.id, alone ? undefined : branch, state.epoch),
        planHash,
        inputHash: hashJson(input),
        stepCount,
        ...(definition === undefined ? {} : { definition }),
        ...(output === undefined ? {} : { output }),
        ...(interactive === undefined ? {} : { interactive }),
      });
    }
    const tooLarge = namedProblem(step.id, inputs, named);
    if (tooLarge !== undefined) return refused('TooManyChildren', tooLarge);
    return { type: 'prepared', step, arguments: inputs, argumentsHash: hashJson(inputs), children: named };
  } catch (error) {
    if (!isWalkbackError(error, 'ArgumentsUnresolved')) throw error;
    return refused(error.name, `The inputs of step ${step.id} cannot be made: ${error.message}`);
  }
};

/** The children that the first entry of an effect names. Empty for an effect without children. */
export const namedIn = (fact: Fact | undefined): NamedChild[] =>
  fact?.direction === 'forward' && fact.status === 'started' ? (fact.children ?? []) : [];

const touchedIn = (entry: LedgerEntry): Touched[] => {
  if (entry.direction === 'forward' && entry.status === 'started' && entry.effect !== 'read') {
    const { resourceKey, at } = entry;
    return resourceKey === undefined ? [] : [{ [resourceMark(resourceKey)]: Date.parse(at) }];
  }
  return entry.direction === 'child' && entry.status === 'ended' ? [entry.child.resources ?? {}] : [];
};

/** Resource keys that a saga and its children touched, each with the time of the last start on it. */
const resourcesIn = (entries: readonly LedgerEntry[]): Touched =>
  boundedMarks(mergedMarks(entries.flatMap(touchedIn)));

/**
 * An interactive saga that stopped while only one of its steps was taken back has not ended. It goes on when
 * an operator has worked on that step, and turns back when it is told to.
 */
export const statusForParent = ({ state: { status, undoFrom } }: SagaHead): SagaStatus =>
  status === 'COMPENSATION_FAILED' && undoFrom !== undefined ? 'COMPENSATING' : status;

export const seenChild = async (
  store: SagaStore,
  { branch, sagaId }: NamedChild,
  parent: string,
  startSeq: number,
): Promise<SeenChild> => {
  const head = await store.getHead(sagaId);
  const known = { branch, sagaId, seq: head?.seq ?? 0, tip: head?.tip ?? '' };
  if (head === undefined) return { ...known, status: null };
  if (!isChildOf(head, parent, startSeq)) {
    const message = `There is another saga ${sagaId}, which this one did not start.`;
    return { ...known, status: 'REFUSED', seq: 0, tip: '', error: { name: 'RequestConflict', message } };
  }
  const { failure } = head.state;
  const status = statusForParent(head);
  if (letterOf(status) === '-') return { ...known, status };
  const resources = resourcesIn(await store.listEntries(sagaId));
  return { ...known, status, ...(failure === null ? {} : { error: failure.error }), resources };
};

/** How the children of this step ended, as last recorded. */
export const recordedEnds = async (
  { store, head }: Reading,
  { step, epoch, startSeq }: Pick<EffectRecord, 'step' | 'epoch' | 'startSeq'>,
): Promise<Map<number, ChildEnd>> => {
  const ends = new Map<number, ChildEnd>();
  let next: number | undefined = startSeq;
  while (next !== undefined && next < head.seq) {
    const page: { items: LedgerEntry[]; next?: number } = await store.pageEntries(head.sagaId, next, 1000);
    for (const entry of page.items) {
      const is = entry.direction === 'child' && (entry.status === 'ended' || entry.status === 'settled');
      if (is && entry.stepIndex === step && entry.epoch === epoch) ends.set(entry.child.index, entry.child);
    }
    next = page.next;
  }
  return ends;
};

const outputOf = async (
  store: SagaStore,
  { sagaId, seq }: { sagaId: string; seq: number },
): Promise<Json> => {
  const entry = await store.getEntry(sagaId, seq - 1);
  return entry?.direction === 'saga' && entry.status === 'completed' ? (entry.output ?? null) : null;
};

/** Looks at the children that have not ended, and at those that a person may be repairing. */
export const prepareChildren = async (
  reading: Reading,
  state: SagaState,
  fresh: readonly Fact[],
  wait: ChildrenWait,
): Promise<SagaEvent & { type: 'children-seen' }> => {
  const { store, head } = reading;
  const effect = state.effects[wait.effect];
  if (effect === undefined) throw new RangeError(`there is no effect ${wait.effect}`);
  const { startSeq } = effect;
  const named = namedIn(await factAt(reading, fresh, startSeq));
  const isNew = startSeq >= head.seq;
  const seen: SeenChild[] = [];
  await mapAtOnce([...named.entries()], READS_AT_ONCE, async ([at, child]) => {
    const letter = wait.ended[at] ?? '-';
    const known = { branch: child.branch, sagaId: child.sagaId, seq: 0, tip: '' };
    if (isNew) seen[at] = { ...known, status: null };
    else if (letter === '-' || letter === 'f')
      seen[at] = await seenChild(store, child, head.sagaId, startSeq);
    else seen[at] = { ...known, status: childStatus(letter) ?? null };
  });
  const stands = seen.some(
    ({ status }) => status !== null && status !== 'COMPLETED' && letterOf(status) !== '-',
  );
  const isOver = seen.every(({ status }) => letterOf(status) !== '-');
  if (isNew || (!stands && !isOver && wait.direction === 'forward'))
    return { type: 'children-seen', children: seen };
  const ends = await recordedEnds(reading, effect);
  await mapAtOnce([...seen.entries()], READS_AT_ONCE, async ([at, child]) => {
    const end = ends.get(at);
    const isKnown = child.tip !== '';
    const { seq, tip } = isKnown || end === undefined ? child : end;
    // A child that is being undone keeps the resources that it touched.
    const { error = end?.error, resources = end?.resources } = child;
    const output =
      wait.direction === 'forward' && isOver && child.status === 'COMPLETED'
        ? { output: await outputOf(store, { sagaId: child.sagaId, seq }) }
        : {};
    seen[at] = {
      ...child,
      seq,
      tip,
      ...(error === undefined ? {} : { error }),
      ...(resources === undefined ? {} : { resources }),
      ...output,
    };
  });
  return { type: 'children-seen', children: seen };
};

/** The declared result of a saga whose steps are done. */
export const prepareOutput = async (
  reading: Reading,
  state: SagaState,
  fresh: readonly Fact[],
  evaluate: Evaluate,
): Promise<SagaEvent & { type: 'output-prepared' | 'output-unprepared' }> => {
  const failed = (name: string, message: string) => ({
    type: 'output-unprepared' as const,
    error: { name, message },
  });
  const first = await reading.store.getEntry(reading.head.sagaId, 0);
  const output = first?.direction === 'saga' && first.status === 'started' ? first.output : undefined;
  if (output === undefined) throw new RangeError('the first entry declares no output');
  try {
    const scope = await scopeOf(reading, state, fresh, output.uses);
    const { value = null } = await resolveArguments({ value: output.value }, scope, evaluate);
    if (jsonBytes(value) <= MAX_RESULT_BYTES) return { type: 'output-prepared', output: value };
    return failed('ResultTooLarge', `The output takes more than ${MAX_RESULT_BYTES} bytes.`);
  } catch (error) {
    if (!isWalkbackError(error, 'ArgumentsUnresolved')) throw error;
    return failed(error.name, `The output cannot be made: ${error.message}`);
  }
};

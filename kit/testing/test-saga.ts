/**
 * Checks that a plan of your tools ends all done or all undone, whichever failure happens when. Runs it on
 * the real reducer, with the real handler around your tools, once for every failure at every operation of
 * every step. For any test runner: it throws the problems found.
 */
import type { Json } from '../../contract/json.ts';
import type { SagaStatus } from '../../contract/saga-answers.ts';
import { fold } from '../../core/saga/decide/fold.ts';
import { findChainBreak } from '../../core/saga/ledger/hash-chain.ts';
import type { Plan, ToolPlanStep } from '../../core/saga/model/plan.ts';
import { approvalStep } from '../../core/saga/model/state.ts';
import { observe } from '../../core/saga/people/observation.ts';
import { canonicalJson } from '../../core/saga/plan/json.ts';
import { createPutCatalog } from '../../core/saga/plan/put-catalog.ts';
import type { ToolFunctions } from '../../core/saga/ports.ts';
import { memoryTombstones } from '../conformance.ts';
import type { Tool } from '../define-tool.ts';
import { toolHandler } from '../handler.ts';
import { manifestOf } from '../manifest.ts';
import { ENGINE_FAULTS, type Fault, type Invoke, type Point } from './faults.ts';
import { memorySagaStore } from './memory-saga-store.ts';
import { sagaMachine } from './saga-machine.ts';
import { virtualClock } from './virtual-clock.ts';

export interface SagaTest {
  input?: Json;
  /**
   * Ids of the steps whose effects the provider shows for this saga, by the keys that it was given
   * (`<saga>:<step index>`). A step that only reads never stands. Without this function, only the saga's
   * own report is checked.
   */
  standing?: (sagaId: string) => Promise<readonly string[]>;
  /** Names of the failures to try, as in the rows. Default: all. */
  failures?: readonly string[];
  /** Makes ids of sagas unique between runs against one provider. */
  prefix?: string;
}

export interface SagaCase {
  step: string;
  operation: Point['operation'];
  failure: string;
  status: SagaStatus;
  /** Steps whose effects the saga lists as not taken back. */
  left: string[];
  /** The problems found. Empty when the saga is safe here. */
  problems: string[];
}

const lineOf = ({ operation, step, failure, status, left, problems }: SagaCase): string => {
  const what = `${operation} of ${step} ${failure}: ${status}`;
  const listed = left.length === 0 ? '' : `, lists ${left.join(', ')}`;
  return `${what}${listed}${problems.map((problem) => `\n    ${problem}`).join('')}`;
};

export class SagaUnsafe extends Error {
  override readonly name = 'SagaUnsafe';
  readonly cases: readonly SagaCase[];

  constructor(cases: readonly SagaCase[]) {
    super(`The saga is not safe in ${cases.length} cases:\n- ${cases.map(lineOf).join('\n- ')}`);
    this.cases = cases;
  }
}

const FUNCTION = 'walkback-test-saga';

/** The failures are tried at calls of tools, step by step. */
const toolStepsOf = (plan: Plan): ToolPlanStep[] =>
  plan.steps.map((step) => {
    if ('tool' in step) return step;
    throw new TypeError(
      `testSaga tries plans whose steps all call tools, and step ${step.id} runs sagas; try the plan of each of them by itself`,
    );
  });

/** Nothing is deployed in this test. The real catalog checks the timeouts of functions. */
const functions: ToolFunctions = { look: async () => ({ state: 'missing' }) };

/** Answer of the last step when the way back is tested. */
const REFUSED = {
  Payload: {
    outcome: 'rejected',
    error: { name: 'Refused', message: 'the test wants the saga undone' },
    retryable: false,
  },
};

interface Run {
  plan: Plan;
  tools: readonly Tool[];
  sagaId: string;
  fault: Fault;
  /** The last step is refused. */
  isUndone: boolean;
  options: SagaTest;
}

const run = async ({ plan, tools, sagaId, fault, isUndone, options }: Run) => {
  const clock = virtualClock();
  const memory = memorySagaStore();
  const handle = toolHandler(tools, { tombstones: memoryTombstones(), now: clock.nowMs });
  const last = plan.steps.at(-1)?.id;
  const direct: Invoke = async (payload) =>
    isUndone && payload.step === last && payload.operation === 'execute'
      ? REFUSED
      : { Payload: await handle(structuredClone(payload)) };
  const invoke = fault.around?.(direct, clock) ?? direct;
  const store = fault.storing?.(memory.store, clock) ?? memory.store;
  const manifests = tools.map((tool) => manifestOf(tool, FUNCTION));
  await createPutCatalog({ store: memory.store, functions })({ tools: manifests, definitions: [] });
  const machine = sagaMachine({
    store,
    clock,
    invoke: (_, payload) => invoke(payload),
    onAwait: async ({ sagaId: waiting }) => {
      const head = await memory.store.getHead(waiting);
      const step = plan.steps[approvalStep(head?.state.wait ?? null) ?? -1];
      if (step === undefined) return false;
      await machine.answer({ sagaId: waiting, stepId: step.id, decision: 'approve', by: 'testSaga' });
      return true;
    },
  });
  await machine.start({ sagaId, plan, input: options.input ?? {}, requestedBy: 'testSaga' });
  await machine.settle();
  const head = await memory.store.getHead(sagaId);
  if (head === undefined) throw new RangeError('the saga was not started');
  return { head, entries: await memory.store.listEntries(sagaId) };
};

const problemsOf = (
  seen: ReturnType<typeof observe>,
  expected: readonly string[],
  standing: readonly string[] | undefined,
): string[] => {
  if (standing === undefined) return [];
  const doubled = standing.filter((step, at) => standing.indexOf(step) !== at);
  const problems = doubled.map((step) => `${step} took effect twice; run testToolIsSafe on its tool`);
  const listed = new Set(seen.notCompensated.map(({ step }) => step));
  if (seen.status === 'COMPLETED') {
    const missing = expected.filter((step) => !standing.includes(step));
    problems.push(...missing.map((step) => `${step} is told as done, and the provider shows nothing of it`));
    return problems;
  }
  const hidden = [...new Set(standing)].filter((step) => !listed.has(step));
  problems.push(
    ...hidden.map((step) => `${step} stands and is not listed: its compensator said it had taken it back`),
  );
  return problems;
};

const faultsOf = ({ failures }: SagaTest): [string, (point: Point) => Fault][] => {
  const unknown = failures?.filter((name) => !Object.hasOwn(ENGINE_FAULTS, name)) ?? [];
  if (unknown.length === 0) {
    return Object.entries(ENGINE_FAULTS).filter(([name]) => failures?.includes(name) ?? true);
  }
  const names = Object.keys(ENGINE_FAULTS).join(', ');
  throw new TypeError(`failures: there is no ${unknown.join(', ')}; choose from ${names}`);
};

/**
 * Tries every failure at every step: on the calls of a way that would succeed, and on the compensators of a
 * way back. Answers a row for each. Throws `SagaUnsafe` with the failed rows, and `PlanRefused` for a plan
 * that no saga starts.
 */
export const testSaga = async (
  plan: Plan,
  tools: readonly Tool[],
  options: SagaTest = {},
): Promise<SagaCase[]> => {
  const effectOf = (name: string) =>
    tools.find(({ definition }) => definition.name === name)?.definition.effect;
  const steps = toolStepsOf(plan);
  const mutating = steps.filter(({ tool }) => effectOf(tool) !== 'read');
  const undoable = mutating.filter(
    ({ id, tool }) => effectOf(tool) !== 'irreversible' && id !== plan.steps.at(-1)?.id,
  );
  const points: Point[] = [
    ...steps.map(({ id }) => ({ operation: 'execute' as const, step: id })),
    ...undoable.map(({ id }) => ({ operation: 'compensate' as const, step: id })),
  ];
  const cases: SagaCase[] = [];
  for (const point of points) {
    for (const [failure, faultAt] of faultsOf(options)) {
      const sagaId = `${options.prefix ?? 'test-saga'}-${cases.length}`;
      const isUndone = point.operation === 'compensate';
      const { head, entries } = await run({ plan, tools, sagaId, fault: faultAt(point), isUndone, options });
      const seen = observe(head, entries);
      const expected = mutating.map(({ id }) => id);
      const problems = problemsOf(seen, expected, await options.standing?.(sagaId));
      if (canonicalJson(fold(entries)) !== canonicalJson(head.state) || findChainBreak(entries, head)) {
        problems.push('the ledger does not hold; this is a mistake of Walkback');
      }
      const left = seen.notCompensated.map(({ step }) => step);
      cases.push({ ...point, failure, status: seen.status, left, problems });
    }
  }
  const unsafe = cases.filter(({ problems }) => problems.length > 0);
  if (unsafe.length > 0) throw new SagaUnsafe(unsafe);
  return cases;
};

/** The rows as a table for people: the end of the saga, by step and failure. */
export const describeCases = (cases: readonly SagaCase[]): string => `${cases.map(lineOf).join('\n')}\n`;

/**
 * Checks that a plan of your tools ends all done or all undone, whichever failure happens when. Runs it on
 * the real reducer, with the real handler around your tools, once for every failure at every operation of
 * every step. For any test runner: it throws the problems found.
 */
import type { Json } from '../../contract/json.ts';
import type { SagaStatus } from '../../contract/saga-observation.ts';
import { fold } from '../../core/saga/decide/fold.ts';
import { findChainBreak } from '../../core/saga/entries/hash-chain.ts';
import type { Plan, SagaDefinition } from '../../core/saga/model/plan.ts';
import { createPutCatalog } from '../../core/saga/plan/put-catalog.ts';
import type { ToolFunctions } from '../../core/saga/ports.ts';
import { observeFamily } from '../../core/saga/view/family-view.ts';
import { storiesOf } from '../../core/saga/view/stories.ts';
import { canonicalJson } from '../../core/shared/canonical-json.ts';
import { plural } from '../../core/shared/plural.ts';
import { memoryTombstones } from '../conformance.ts';
import type { Tool } from '../define-tool.ts';
import { toolHandler } from '../handler.ts';
import { manifestOf } from '../manifest.ts';
import { ENGINE_FAULTS, type Fault, type Invoke, type Point } from './faults.ts';
import {
  differsFromScript,
  type InteractiveScript,
  isScript,
  type Played,
  playScript,
  rejectedSteps,
} from './interactive-script.ts';
import { memorySagaStore } from './memory-saga-store.ts';
import { sagaMachine } from './saga-machine.ts';
import { virtualClock } from './virtual-clock.ts';

export interface SagaTest {
  input?: Json;
  /**
   * Ids of the steps whose effects the provider shows for this saga, found by the keys that the provider was
   * given (`<saga>:<step index>`). A step of a child is named with its path, `pay/refund`; the child's id is
   * `<saga>.<step>` or `<saga>.<step>.<branch>`. A step that only reads never stands. Without this function,
   * only the saga's own report is checked.
   */
  standing?: (sagaId: string) => readonly string[] | Promise<readonly string[]>;
  /** Names of the failures to try, as in the rows. Default: all. */
  failures?: readonly string[];
  /** Templates that steps of the plan run as sagas. */
  definitions?: readonly SagaDefinition[];
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
    super(`The saga is not safe in ${plural(cases.length, 'case')}:\n- ${cases.map(lineOf).join('\n- ')}`);
    this.cases = cases;
  }
}

const FUNCTION = 'walkback-test-saga';

/** The id of a child that is longer ends in its hash, which differs in each run. */
const MAX_ID_LENGTH = 58;

/** Nothing is deployed in this test. The real catalog checks the timeouts of functions. */
const functions: ToolFunctions = { look: async () => ({ state: 'missing' }) };

/** The last step's answer when the way back is tested. */
const REFUSED = {
  Payload: {
    outcome: 'rejected',
    error: { name: 'Refused', message: 'the test wants the saga undone' },
    retryable: false,
  },
};

/** A plan, or the steps that an agent submits one by one. */
type Subject = Plan | InteractiveScript;

/** A call of a tool, anywhere in the tree. */
interface PlannedCall {
  /** What follows the root's id in the id of its saga: nothing, or `.pay.books`. */
  saga: string;
  step: string;
  tool: string;
}

/** The name that observations use: `pay/books/refund`. */
const pathOf = ({ saga, step }: Pick<PlannedCall, 'saga' | 'step'>): string =>
  [...saga.split('.').slice(1), step].join('/');

interface Run {
  subject: Subject;
  tools: readonly Tool[];
  sagaId: string;
  fault: Fault;
  /**
   * The way back is tested: the last step is refused, a tree is undone after it is done, or an agent closes
   * with `unwind`.
   */
  isUndone: boolean;
  options: SagaTest;
}

/** Steps of tools that are all known before the saga starts. */
const straightSteps = (subject: Subject): Plan['steps'] | undefined =>
  isScript(subject) || subject.steps.some((step) => !('tool' in step)) ? undefined : subject.steps;

const run = async ({ subject, tools, sagaId, fault, isUndone, options }: Run) => {
  const clock = virtualClock();
  const memory = memorySagaStore();
  const handle = toolHandler(tools, { tombstones: memoryTombstones(), now: clock.nowMs });
  const places = new Map<string, PlannedCall>();
  const refused = isUndone ? straightSteps(subject)?.at(-1)?.id : undefined;
  const direct: Invoke = async (payload) => {
    const { operation, step, tool } = payload;
    const place = { saga: payload.sagaId.slice(sagaId.length), step, tool };
    if (operation === 'execute') places.set(pathOf(place), place);
    return step === refused && operation === 'execute'
      ? REFUSED
      : { Payload: await handle(structuredClone(payload)) };
  };
  const invoke = fault.around?.(direct, clock) ?? direct;
  const store = fault.storing?.(memory.store, clock) ?? memory.store;
  const manifests = tools.map((tool) => manifestOf(tool, FUNCTION));
  const definitions = [...(options.definitions ?? [])].map((one) => structuredClone(one));
  await createPutCatalog({ store: memory.store, functions })({ tools: manifests, definitions });
  const machine = sagaMachine({
    store,
    clock,
    invoke: (_, payload) => invoke(payload),
    onAwait: async ({ sagaId: waiting, step }) => {
      await machine.answer({ sagaId: waiting, stepId: step, decision: 'approve', by: 'testSaga' });
      return true;
    },
  });
  let played: Played | undefined;
  if (isScript(subject)) played = await playScript(subject, { machine, clock, sagaId, isUndone });
  else await machine.start({ sagaId, plan: subject, input: options.input ?? {}, requestedBy: 'testSaga' });
  await machine.settle();
  if (isUndone && memory.heads.get(sagaId)?.state.status === 'COMPLETED') {
    await machine.operate({
      sagaId,
      action: 'undo',
      acceptResidue: true,
      evidence: 'a test',
      by: 'testSaga',
    });
    await machine.settle();
  }
  const head = memory.heads.get(sagaId);
  if (head === undefined) throw new RangeError('the saga was not started');
  const family = [...memory.heads.values()].map((one) => ({
    head: one,
    entries: memory.ledger.get(one.sagaId) ?? [],
  }));
  const seen = await observeFamily(memory.store, head, memory.ledger.get(sagaId) ?? []);
  return { seen, family, played, places: [...places.values()] };
};

type Ran = Awaited<ReturnType<typeof run>>;

/** Steps that the sagas report as done and whose effects must be visible. */
const toldOf = ({ family }: Ran, sagaId: string): string[] =>
  family.flatMap(({ head, entries }) =>
    storiesOf(head, entries)
      .filter(({ effect }) => effect.status === 'committed' && effect.kind !== 'read')
      .filter(({ effect }) => effect.children !== true)
      .map(({ step }) => pathOf({ saga: head.sagaId.slice(sagaId.length), step })),
  );

const leftOf = ({ seen }: Ran): string[] =>
  seen.notCompensated.map(({ path, step }) => (path === undefined ? step : `${path}/${step}`));

const problemsOf = (ran: Ran, sagaId: string, standing: readonly string[] | undefined): string[] => {
  const problems = ran.family.flatMap(({ head, entries }) =>
    canonicalJson(fold(entries)) === canonicalJson(head.state) && findChainBreak(entries, head) === undefined
      ? []
      : [`the ledger of ${head.sagaId} does not hold; this is a mistake of Walkback`],
  );
  problems.push(...(ran.played?.problems ?? []));
  if (standing === undefined) return problems;
  const doubled = standing.filter((step, at) => standing.indexOf(step) !== at);
  problems.push(...doubled.map((step) => `${step} took effect twice; run testToolIsSafe on its tool`));
  const isDone = ran.seen.status === 'COMPLETED';
  const told = isDone ? toldOf(ran, sagaId) : [];
  const missing = told.filter((step) => !standing.includes(step));
  problems.push(...missing.map((step) => `${step} is told as done, and the provider shows nothing of it`));
  const known = new Set([...told, ...leftOf(ran)]);
  const hidden = [...new Set(standing)].filter((step) => !known.has(step));
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
 * Calls that are known only after a run: `each` has as many children as its list has elements, and an agent
 * decides as it goes.
 */
const placesOf = async (
  subject: Subject,
  tools: readonly Tool[],
  options: SagaTest,
): Promise<PlannedCall[]> => {
  const sagaId = `${options.prefix ?? 'test-saga'}-tree`;
  const { places, played, family } = await run({
    subject,
    tools,
    sagaId,
    fault: {},
    isUndone: false,
    options,
  });
  const agent = family.find(({ head }) => head.parent !== undefined && head.state.interactive !== undefined);
  if (agent !== undefined) {
    throw new TypeError(
      `testSaga plays no agent, which ${agent.head.sagaId} waits for: test the steps before and after it as plans, and its own as a script`,
    );
  }
  const differing =
    isScript(subject) && played !== undefined ? differsFromScript(subject, played) : undefined;
  if (differing !== undefined) throw new TypeError(`With nothing failing, ${differing}`);
  const long = places.find(({ saga }) => sagaId.length + saga.length > MAX_ID_LENGTH);
  if (long === undefined) return places;
  throw new TypeError(
    `testSaga finds the calls of a child by its id, and that of ${pathOf(long)} is too long: choose shorter ids of steps, branches or prefix`,
  );
};

/**
 * Tries every failure at every call of a tool: in the plan and in the sagas that its steps run, or in the
 * steps that a script submits. It tries the calls of a way that would succeed, and the compensators of a way
 * back. Answers a row for each. Throws `SagaUnsafe` with the failed rows, `PlanRefused` for a plan that no
 * saga would start, and `TypeError` for a script that goes differently when nothing fails.
 */
export const testSaga = async (
  subject: Plan | InteractiveScript,
  tools: readonly Tool[],
  options: SagaTest = {},
): Promise<SagaCase[]> => {
  const effectOf = (name: string) =>
    tools.find(({ definition }) => definition.name === name)?.definition.effect;
  const straight = straightSteps(subject);
  const places: PlannedCall[] =
    straight === undefined
      ? await placesOf(subject, tools, options)
      : straight.flatMap((step) => ('tool' in step ? [{ saga: '', step: step.id, tool: step.tool }] : []));
  const last = straight?.at(-1)?.id;
  const refused = isScript(subject) ? rejectedSteps(subject) : [];
  const undoable = places.filter(({ step, tool }) => {
    const effect = effectOf(tool);
    return effect !== 'read' && effect !== 'irreversible' && step !== last && !refused.includes(step);
  });
  const points = [
    ...places.map((place) => ({ operation: 'execute' as const, place })),
    ...undoable.map((place) => ({ operation: 'compensate' as const, place })),
  ];
  const cases: SagaCase[] = [];
  for (const { operation, place } of points) {
    for (const [failure, faultAt] of faultsOf(options)) {
      const sagaId = `${options.prefix ?? 'test-saga'}-${cases.length}`;
      const fault = faultAt({ operation, step: place.step, sagaId: `${sagaId}${place.saga}` });
      const isUndone = operation === 'compensate';
      const ran = await run({ subject, tools, sagaId, fault, isUndone, options });
      const problems = problemsOf(ran, sagaId, await options.standing?.(sagaId));
      const { status } = ran.seen;
      cases.push({ operation, step: pathOf(place), failure, status, left: leftOf(ran), problems });
    }
  }
  const unsafe = cases.filter(({ problems }) => problems.length > 0);
  if (unsafe.length > 0) throw new SagaUnsafe(unsafe);
  return cases;
};

/** The rows as a table for people: the end of the saga, by step and failure. */
export const describeCases = (cases: readonly SagaCase[]): string => `${cases.map(lineOf).join('\n')}\n`;

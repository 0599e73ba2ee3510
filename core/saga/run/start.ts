/** Starts a saga. Every problem that a check can find is found before anything is written (S8). */
import type { Json } from '../../../contract/json.ts';
import type { SagaStatus } from '../../../contract/saga-observation.ts';
import { canonicalJson, hashJson } from '../../shared/canonical-json.ts';
import type { Invocation } from '../../shared/deadline.ts';
import { WalkbackError } from '../../shared/errors.ts';
import { RACE, retrying } from '../../shared/retry.ts';
import type { Clock, Log } from '../../shared/surroundings.ts';
import { slotFact } from '../decide/decide-permits.ts';
import type { SlotLook } from '../decide/saga-events.ts';
import type { SagaHead } from '../model/head.ts';
import type { AskedPolicy, InteractivePolicy } from '../model/interactive.ts';
import type { Fact } from '../model/ledger-entry.ts';
import { slotsOf } from '../model/permit.ts';
import type { PinnedParts, Plan, SagaDefinition } from '../model/plan.ts';
import { claimsOf } from '../permits/claims.ts';
import { lookAt } from '../permits/look.ts';
import { startLocksIn } from '../permits/start-locks.ts';
import { parsePlan } from '../plan/catalog.ts';
import { overdueWarnings } from '../plan/overdue.ts';
import { pinSteps } from '../plan/pinned-steps.ts';
import { requireInput, requirePlan } from '../plan/plan-validation.ts';
import { requirePolicy } from '../plan/policy.ts';
import { readCatalog } from '../plan/read-catalog.ts';
import type { CheckEpoch, Evaluate, ProjectOf, SagaEngine, SagaStore } from '../ports.ts';
import { newHead } from './new-head.ts';
import { fenceOf, requireFence } from './session-fence.ts';
import { type DrivenSaga, tellUnlessPassing } from './tell-machine.ts';

export interface StartRequest {
  sagaId: string;
  definition?: { name: string; version?: string };
  plan?: unknown;
  /** Used instead of a plan: the steps are submitted one by one. */
  interactive?: AskedPolicy & { single?: true };
  /** An interactive saga may have none. */
  input?: Json;
  sessionId?: string;
  messageId?: string;
  /** The session's epoch. If the session has another one, `StaleEpoch` is thrown. */
  epoch?: number;
  project?: string;
  maxConcurrent?: number;
  /** `inline`: the caller drives the saga as long as one call settles each step. Then the machine takes over. */
  drive?: 'machine' | 'inline';
  requestedBy: string;
}

export interface StartDependencies {
  store: SagaStore;
  engine: SagaEngine;
  clock: Clock;
  log?: Log;
  evaluate: Evaluate;
  checkEpoch?: CheckEpoch;
  projectOf?: ProjectOf;
  /** Drives a saga inside this function. */
  driveInline?: (sagaId: string, invocation: Invocation) => Promise<DrivenSaga>;
}

/**
 * The pinned input travels with every argument that uses it, so its size is kept small: as much as one
 * message of a person can hold.
 */
const MAX_INPUT_BYTES = 64 * 1024;

interface Started {
  plan: Plan;
  definition?: SagaDefinition;
  policy?: InteractivePolicy;
}

const planOf = async (store: SagaStore, request: Checked): Promise<Started> => {
  const { interactive } = request;
  const given = [request.definition, request.plan, interactive].filter((one) => one !== undefined);
  if (given.length !== 1) {
    throw new WalkbackError('InvalidInput', 'Give one of definition, plan and interactive.');
  }
  if (interactive !== undefined) {
    return { plan: { steps: [] }, policy: await requirePolicy(store, interactive) };
  }
  if (request.definition === undefined) return { plan: parsePlan(request.plan) };
  const { name, version } = request.definition;
  const definition = await store.getDefinition(name, version);
  if (definition === undefined) {
    const wanted = version === undefined ? name : `${name}@${version}`;
    throw new WalkbackError(
      'InvalidInput',
      `The catalog has no definition ${wanted}; walkback catalog list shows them.`,
    );
  }
  requireInput(definition.input, request.input);
  return { plan: definition.plan, definition };
};

interface Beginning {
  definition: string | undefined;
  policy: InteractivePolicy | undefined;
  requestHash: string;
  locks: { stepIndex: number; resourceKey: string }[];
}

/** `slot`: how the slots of the saga's project stand, when it needs one to begin. */
const headOf = (
  request: Checked,
  { steps, output }: PinnedParts,
  about: Beginning,
  slot: SlotLook | undefined,
  at: string,
) => {
  const { definition, policy, requestHash, locks } = about;
  const { planHash } = pinSteps(steps);
  const inputHash = hashJson(request.input);
  const known = {
    ...(definition === undefined ? {} : { definition }),
    ...(request.sessionId === undefined ? {} : { sessionId: request.sessionId }),
    ...(request.messageId === undefined ? {} : { messageId: request.messageId }),
    ...(request.project === undefined ? {} : { project: request.project }),
    ...(request.maxConcurrent === undefined ? {} : { maxConcurrent: request.maxConcurrent }),
  };
  // A saga that waits in line for a slot has no driver. Once it has a slot, the machine drives it.
  const isInline = policy !== undefined || (request.drive === 'inline' && slot?.look.state !== 'busy');
  const fact: Fact = {
    direction: 'saga',
    status: 'started',
    planHash,
    inputHash,
    stepCount: steps.length,
    requestHash,
    ...known,
    ...(policy === undefined ? {} : { interactive: policy }),
    ...(isInline ? { inline: true } : {}),
    ...(output === undefined ? {} : { output }),
    ...(locks.length === 0 ? {} : { locks }),
  };
  const facts = slot === undefined ? [fact] : [fact, slotFact(slot)];
  const { sagaId, requestedBy } = request;
  return newHead({ sagaId, requestHash, planHash, inputHash, ...known, requestedBy }, facts, at);
};

type Checked = StartRequest & { input: Json };

const withInput = (request: StartRequest): Checked => {
  const { input = request.interactive === undefined ? undefined : {} } = request;
  if (input === undefined) throw new WalkbackError('InvalidInput', 'input: what the plan reads is missing.');
  return { ...request, input };
};

/** The project that was asked for; else that of the session, which never changes. */
const withProject = async (request: StartRequest, projectOf?: ProjectOf): Promise<StartRequest> => {
  if (request.project !== undefined || request.sessionId === undefined) return request;
  const project = await projectOf?.(request.sessionId);
  return project === undefined ? request : { ...request, project };
};

const adopt = (existing: SagaHead, requestHash: string): SagaHead => {
  if (existing.requestHash === requestHash) return existing;
  throw new WalkbackError(
    'RequestConflict',
    `Saga ${existing.sagaId} was started with another request; choose a new id.`,
  );
};

/**
 * Validates, pins, records and starts. A repeated equal request gets the same answer and starts nothing
 * twice. A different request with the same id is `RequestConflict`. Throws `PlanRefused` and `InvalidInput`
 * before anything is written.
 */
export const createStartSaga = (dependencies: StartDependencies) => {
  const { store, engine, clock, evaluate, driveInline, checkEpoch, projectOf } = dependencies;
  const create = async (
    request: Checked,
    parts: PinnedParts,
    about: Beginning,
    at: string,
  ): Promise<SagaHead> => {
    const { sagaId, project, maxConcurrent: size } = request;
    const semaphore = slotsOf(project ?? '');
    const me = { sagaId, startedAt: at };
    const fence = fenceOf(request);
    /** Undefined when another saga has taken the slot meanwhile, or the session's epoch has risen. */
    const tryToCreate = async (slot: SlotLook | undefined): Promise<SagaHead | undefined> => {
      await requireFence(checkEpoch, fence);
      const { head, entries } = headOf(request, parts, about, slot, at);
      const outcome = await store.createSaga(head, entries, claimsOf(head, entries), fence);
      return outcome.written ? head : outcome.existing;
    };
    // An interactive saga takes a slot with its first step.
    const isLimited = size !== undefined && about.policy === undefined;
    const created = await retrying(RACE, clock, async () =>
      tryToCreate(
        isLimited ? { semaphore, look: await lookAt({ store }, semaphore, me, { size }) } : undefined,
      ),
    );
    if (created !== undefined) return created;
    // Others took each free slot first. Standing in line always works.
    const queued = await tryToCreate({ semaphore, look: { state: 'busy', behind: me } });
    if (queued !== undefined) return queued;
    throw new WalkbackError('Throttled', `Saga ${sagaId} is started by too many at once; try again.`, {
      retryable: true,
    });
  };

  /** Starts the execution, unless a function drives the saga or it waits for a slot: then it has none yet. */
  const begin = async ({ sagaId, state }: SagaHead): Promise<string[]> => {
    if (state.inline !== undefined || state.status === 'QUEUED') return [];
    return tellUnlessPassing(dependencies, sagaId, () => engine.start(sagaId, 1));
  };

  /** Any call that finds the saga before its first move drives it; only one of them can write that move. */
  const driven = async (head: SagaHead, request: StartRequest, invocation: Invocation) =>
    request.drive === 'inline' && head.version === 1 && head.state.inline === true
      ? driveInline?.(head.sagaId, invocation)
      : undefined;

  return async (
    request: StartRequest,
    invocation: Invocation = { deadlineMs: Number.POSITIVE_INFINITY },
  ): Promise<{ sagaId: string; status: SagaStatus; warnings: string[] }> => {
    const { epoch: _, ...asked } = request;
    const requestHash = hashJson(asked);
    const known = await store.getHead(request.sagaId);
    if (known !== undefined) {
      const head = adopt(known, requestHash);
      const untold = head.version === 1 ? await begin(head) : [];
      const { status = head.state.status, warnings = [] } = (await driven(head, request, invocation)) ?? {};
      return { sagaId: head.sagaId, status, warnings: [...untold, ...warnings] };
    }
    if (request.drive === 'inline' && request.interactive !== undefined) {
      throw new WalkbackError(
        'InvalidInput',
        'drive: inline is for a plan; submit-step drives an interactive saga itself anyway.',
      );
    }
    if (request.drive === 'inline' && driveInline === undefined) {
      throw new WalkbackError('ConfigurationError', 'drive: this function cannot drive sagas itself.');
    }
    // Comes before any look at the catalog, so that work of an older epoch is told this first.
    await requireFence(checkEpoch, fenceOf(request));
    if (request.messageId !== undefined && request.sessionId === undefined) {
      throw new WalkbackError('InvalidInput', 'messageId: needs the sessionId that the message belongs to.');
    }
    const checked = withInput(await withProject(request, projectOf));
    if (checked.maxConcurrent !== undefined && checked.project === undefined) {
      throw new WalkbackError('InvalidInput', 'maxConcurrent: name the project that it limits.');
    }
    if (Buffer.byteLength(canonicalJson(checked.input)) > MAX_INPUT_BYTES) {
      throw new WalkbackError(
        'InvalidInput',
        `input: takes more than ${MAX_INPUT_BYTES} bytes; pass a reference instead.`,
      );
    }
    const { plan, definition, policy } = await planOf(store, checked);
    const { lookup, definitions, found } = await readCatalog(store, plan);
    const parts = await requirePlan(
      plan,
      lookup,
      { input: checked.input, evaluate },
      { definitions, ...(definition === undefined ? {} : { name: definition.name }) },
    );
    const now = clock.now();
    const name = definition === undefined ? undefined : `${definition.name}@${definition.version}`;
    const { input } = checked;
    const { steps, plans } = parts;
    const locks = await startLocksIn(steps, { input, project: checked.project, evaluate });
    const { planHash } = pinSteps(steps);
    const pinned = { sagaId: request.sagaId, planHash, inputHash: hashJson(input), input, steps, plans };
    await store.putPinned(pinned);
    const about = { definition: name, policy, requestHash, locks };
    const current = adopt(await create(checked, parts, about, now.toISOString()), requestHash);
    const untold = await begin(current);
    const templates = [...(definition === undefined ? [] : [definition]), ...found.definitions];
    const overdue = overdueWarnings({ templates, tools: found.tools }, now);
    const { status = current.state.status, warnings = [] } =
      (await driven(current, request, invocation)) ?? {};
    return { sagaId: current.sagaId, status, warnings: [...untold, ...warnings, ...overdue] };
  };
};

/**
 * Rewinds one saga: its last effects are undone, and it goes forward again, in the next epoch and with
 * guidance (L6). The request is recorded; the execution that drives the saga carries it out.
 */
import type { Asked } from '../../../contract/identity.ts';
import type { RewindAnswer, RewoundSaga, SagaRewind } from '../../../contract/rewind.ts';
import { hashJson } from '../../shared/canonical-json.ts';
import { WalkbackError } from '../../shared/errors.ts';
import { isRewindable } from '../decide/decide-rewind.ts';
import { readTrueLedger, type ToldEntry } from '../entries/read-ledger.ts';
import type { SagaHead } from '../model/head.ts';
import type { LedgerEntry } from '../model/ledger-entry.ts';
import type { AdvanceDependencies, Evaluate, SagaStore } from '../ports.ts';
import { ensureDriven } from '../run/ensure-driven.ts';
import { move } from '../run/move.ts';
import { newTail } from '../run/new-tail.ts';
import { tellMachine, warned } from '../run/tell-machine.ts';
import { wake } from '../run/wake.ts';
import { observeFamily } from '../view/family-view.ts';
import { type RewindTarget, rewindTarget } from '../view/rewind-target.ts';
import { storiesOf } from '../view/stories.ts';
import { requireReturn } from '../view/undo-plan.ts';
import { requireFresh } from './identify.ts';
import { ifUnmoved, untilUnmoved } from './planned.ts';
import { requireReason, requireSameResidue, residueOf } from './residue.ts';
import { treePlanOf } from './tree-plan.ts';

export type RewindDependencies = Pick<AdvanceDependencies, 'store' | 'engine' | 'clock' | 'log'> & {
  evaluate: Evaluate;
};

type Request = LedgerEntry & { status: 'rewind_requested' };

const POLL_MS = 250;

const hashOf = ({ sagaId, to, guidance, plan, acceptResidue = false, reason }: Asked<SagaRewind>) =>
  hashJson({
    sagaId,
    to,
    guidance: guidance ?? null,
    plan: plan ?? null,
    acceptResidue,
    reason: reason ?? null,
  });

const requestIn = (entries: readonly ToldEntry[], requestId: string): Request | undefined => {
  const asked = entries.find((entry) => entry.status === 'rewind_requested' && entry.requestId === requestId);
  return asked?.status === 'rewind_requested' ? asked : undefined;
};

const rewindStatus = (
  head: SagaHead,
  entries: readonly ToldEntry[],
  { requestId, seq }: Request,
): RewindAnswer['status'] => {
  if (head.state.rewind?.requestId === requestId) {
    return head.state.status === 'COMPENSATION_FAILED' ? 'STOPPED' : 'UNDOING';
  }
  const end = entries.find(
    (entry) => entry.seq > seq && (entry.status === 'rewound' || entry.status === 'cancel_requested'),
  );
  return end?.status === 'rewound' ? 'REWOUND' : 'CANCELLED';
};

const answerOf = (
  requestId: string,
  status: RewindAnswer['status'],
  saga: RewoundSaga,
  guidance: string | undefined,
): RewindAnswer => ({ requestId, status, sagas: [saga], ...(guidance === undefined ? {} : { guidance }) });

/** How far a recorded rewind is. */
const standing = async (
  store: SagaStore,
  head: SagaHead,
  entries: readonly ToldEntry[],
  asked: Request,
): Promise<RewindAnswer> => {
  const status = rewindStatus(head, entries, asked);
  const isThrough = status === 'REWOUND' || status === 'CANCELLED';
  const stories = storiesOf(head, entries);
  const saga = {
    sagaId: head.sagaId,
    status: head.state.status,
    epoch: head.state.epoch,
    after: asked.after,
    plan: isThrough
      ? { undo: [], stands: [] }
      : await treePlanOf(store, head.sagaId, entries, stories.slice(asked.floor)),
    ...(status === 'REWOUND' ? { observation: await observeFamily(store, head, entries) } : {}),
  };
  return answerOf(asked.requestId, status, saga, asked.guidance);
};

const requireRewindable = ({ sagaId, state, parent, root }: SagaHead): void => {
  if (parent !== undefined) {
    throw new WalkbackError(
      'OperationRefused',
      `Saga ${sagaId} is a step of ${parent.sagaId}; rewind the saga without a parent: ${root ?? parent.sagaId}.`,
    );
  }
  if (isRewindable(state)) return;
  const why =
    state.rewind === undefined
      ? `it is ${state.status}${state.cancelRequested ? ' and was cancelled' : ''}`
      : `its rewind ${state.rewind.requestId} is not through`;
  throw new WalkbackError(
    'OperationRefused',
    `Saga ${sagaId} cannot be rewound now: ${why}. A saga is rewound while it goes forward, or when it is completed.`,
  );
};

const stepPlace = (after: string | null): string =>
  after === null ? 'its beginning' : `after step ${after}`;

/**
 * Refuses when the saga went on since the plan: a number of steps then leads elsewhere, and after a rewind
 * the steps are others.
 */
const requirePlanned = (
  { sagaId, state }: SagaHead,
  { after }: RewindTarget,
  planned: SagaRewind['planned'],
): void => {
  if (planned === undefined || (planned.after === after && planned.epoch === state.epoch)) return;
  const why =
    planned.epoch === state.epoch
      ? `went on since the plan was made: this rewind leads to ${stepPlace(after)} by now, and not to ${stepPlace(planned.after)}`
      : `was rewound since the plan was made (epoch ${planned.epoch}, now ${state.epoch})`;
  throw new WalkbackError(
    'OperationConflict',
    `Saga ${sagaId} ${why}. Nothing was changed. Make the plan again, and look at it.`,
    { details: { sagaId, epoch: state.epoch, after } },
  );
};

/** The answer, or undefined when the saga moved meanwhile and everything must be read again. */
const attempt = async (
  dependencies: RewindDependencies,
  request: Asked<SagaRewind>,
): Promise<RewindAnswer | undefined> => {
  const { store } = dependencies;
  const { sagaId, requestId, to, guidance, acceptResidue = false, reason, dryRun = false, by } = request;
  const head = await store.getHead(sagaId);
  if (head === undefined) throw new WalkbackError('SagaNotFound', `There is no saga ${sagaId}.`);
  const entries = await readTrueLedger(store, head);
  const requestHash = hashOf(request);
  const known = requestIn(entries, requestId);
  if (known !== undefined) {
    if (known.requestHash === requestHash) return standing(store, head, entries, known);
    throw new WalkbackError(
      'RequestConflict',
      `Request "${requestId}" rewound saga ${sagaId} otherwise; repeat it unchanged, or choose another request id.`,
    );
  }
  requireRewindable(head);
  const stories = storiesOf(head, entries);
  const target = rewindTarget(head, stories, to);
  requirePlanned(head, target, request.planned);
  const plan = await treePlanOf(store, sagaId, entries, stories.slice(target.floor));
  requireReturn(sagaId, plan, acceptResidue || dryRun);
  if (acceptResidue && !dryRun) requireSameResidue([{ sagaId, plan }], request.residue);
  if (acceptResidue && !dryRun) requireFresh(by, dependencies.clock);
  const tail =
    request.plan === undefined ? undefined : await newTail(dependencies, head, target.cursor, request.plan);
  if (dryRun) {
    const { status, epoch } = head.state;
    const saga = { sagaId, status, epoch, after: target.after, plan };
    return { ...answerOf(requestId, 'PLANNED', saga, guidance), residue: residueOf([saga]) };
  }
  if (tail !== undefined) await store.putPinned(tail.pinned);
  const event = {
    type: 'rewind' as const,
    requestId,
    requestHash,
    ...target,
    ...(guidance === undefined ? {} : { guidance }),
    ...(acceptResidue ? { acceptResidue } : {}),
    ...(acceptResidue && reason !== undefined ? { reason } : {}),
    ...(tail === undefined ? {} : { plan: tail.plan }),
  };
  const moved = await move(dependencies, sagaId, ifUnmoved(head, event), by);
  return moved.entries.length === 0
    ? undefined
    : standing(store, moved.head, [...entries, ...moved.entries], requestOf(moved.entries, requestId));
};

const requestOf = (entries: readonly LedgerEntry[], requestId: string): Request => {
  const asked = requestIn(entries, requestId);
  if (asked === undefined) throw new RangeError(`the move did not record rewind ${requestId}`);
  return asked;
};

/**
 * `dryRun` answers the plan and writes nothing. Repeating a request answers how far its rewind is. Throws
 * `OperationRefused`, `StepNotFound`, `PlanRefused`, and `PointOfNoReturn` and `ResidueChanged` before anything is written.
 */
export const createRewindSaga =
  (dependencies: RewindDependencies) =>
  async (request: Asked<SagaRewind>): Promise<RewindAnswer> => {
    const { sagaId, requestId, waitSeconds = 0, by, dryRun } = request;
    const { store, clock } = dependencies;
    requireReason('reason', request, request.reason);
    const look = () =>
      untilUnmoved(clock, `rewind ${requestId} of saga ${sagaId}`, () => attempt(dependencies, request));
    let answer = await look();
    if (dryRun === true) return answer;
    const head = await store.getHead(sagaId);
    let warnings: string[] = [];
    if (head !== undefined && answer.status === 'UNDOING') {
      warnings = await tellMachine(dependencies, sagaId, async () => {
        await wake(dependencies, sagaId);
        await ensureDriven(dependencies, head, by);
      });
    }
    for (let leftMs = waitSeconds * 1000; leftMs > 0 && answer.status === 'UNDOING'; leftMs -= POLL_MS) {
      await clock.sleep(Math.min(leftMs, POLL_MS));
      answer = await look();
    }
    return { ...answer, ...warned(warnings) };
  };

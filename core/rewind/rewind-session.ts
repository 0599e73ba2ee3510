/**
 * Rewinds a session (L6): first the effects of its sagas after the target, then the files, then the
 * conversation. What may fail and cannot be undone comes first. What happens all or none, and can be undone,
 * comes last. No file is touched until every effect is taken back. A repeated request continues where it was.
 */
import { type Asked, nameOf } from '../../contract/identity.ts';
import type { RewindAnswer, RewoundSaga, SessionRewind } from '../../contract/rewind.ts';
import type { Checkpoint, Session } from '../checkpoint/model.ts';
import { touch } from '../checkpoint/session/session-item.ts';
import { mayBegin, requireActive, requireSession } from '../checkpoint/session/session-rules.ts';
import { requireFree } from '../checkpoint/settle/abandoned.ts';
import { isAfterTarget } from '../checkpoint/timeline/after-target.ts';
import { findTarget } from '../checkpoint/timeline/targets.ts';
import { isLetStand } from '../saga/decide/effects.ts';
import { readTrueLedger } from '../saga/entries/read-ledger.ts';
import type { RewindRecord } from '../saga/model/session-rewind.ts';
import { requireFresh } from '../saga/people/identify.ts';
import { requireReason, requireSameResidue, residueKeys, residueOf } from '../saga/people/residue.ts';
import { treePlanOf } from '../saga/people/tree-plan.ts';
import { observeFamily } from '../saga/view/family-view.ts';
import { type SagaSince, sagasSince } from '../saga/view/session-sagas.ts';
import { observed, storiesOf } from '../saga/view/stories.ts';
import { readSubject } from '../saga/view/subject.ts';
import { requireReturn } from '../saga/view/undo-plan.ts';
import { mapAtOnce } from '../shared/at-once.ts';
import type { Invocation } from '../shared/deadline.ts';
import { WalkbackError } from '../shared/errors.ts';
import { RACE, retrying } from '../shared/retry.ts';
import { fittingSagas } from './fit-sagas.ts';
import type { SessionRewindDependencies } from './ports.ts';
import { bringFiles, planFiles } from './rewind-files.ts';
import { requireSameRequest, rewindHash } from './rewind-record.ts';
import { takeBackSagas } from './take-back-sagas.ts';

const SAGAS_AT_ONCE = 8;

/** Of a record, which is one item. Of more effects than that, what came since is accepted with them. */
const MOST_NAMED = 10_000;

const STAYS_BETWEEN = 'a later step of this saga stays';
/** Time that a call keeps for the files when it waits for effects. */
const FILES_MS = 120_000;

const writtenAllTheTime = (sessionId: string): WalkbackError =>
  new WalkbackError('Throttled', `Session "${sessionId}" is being written all the time. Call again.`, {
    retryable: true,
  });

type IsAfter = ReturnType<typeof isAfterTarget>;

export const createRewindSession = (dependencies: SessionRewindDependencies) => {
  const { store, sessions, clock } = dependencies;

  const told = async ({ head, steps }: SagaSince): Promise<RewoundSaga> => {
    const { sagaId, state } = head;
    const { status, epoch } = state;
    // Such sagas may be many in every answer, and their ledgers would add nothing.
    if (
      status === 'COMPENSATED' &&
      !state.effects.some((effect) => isLetStand(effect) || effect.children === true)
    )
      return { sagaId, status, epoch, after: null, plan: { undo: [], stands: [] } };
    const entries = await readTrueLedger(store, head);
    const stories = storiesOf(head, entries);
    const plan = await treePlanOf(store, sagaId, entries, stories.slice(steps?.floor ?? 0));
    const { subject } = await readSubject(store, sagaId);
    const between = (steps?.between ?? []).map((story) => ({ ...observed(story), reason: STAYS_BETWEEN }));
    const isThrough = steps?.isLeft === false && state.phase !== 'undo';
    return {
      sagaId,
      status,
      epoch,
      after: steps?.after ?? null,
      ...(head.definition != null && { definition: head.definition }),
      ...(subject !== undefined && { subject }),
      plan: { ...plan, stands: [...plan.stands, ...between] },
      ...(isThrough ? { observation: await observeFamily(store, head, entries) } : {}),
    };
  };

  /** The last one first, in the order in which they are taken back. */
  const sagasAfter = async (sessionId: string, isAfter: IsAfter): Promise<RewoundSaga[]> =>
    mapAtOnce((await sagasSince(store, sessionId, isAfter)).toReversed(), SAGAS_AT_ONCE, told);

  /**
   * The epoch in which this same request was decided, if the request then raised it: it has begun, and may have
   * died before it wrote its record.
   */
  const begunIn = ({ begunRewind, epoch }: Session, requestId: string): number | undefined =>
    begunRewind?.requestId === requestId && begunRewind.epoch === epoch - 1 ? begunRewind.epoch : undefined;

  const hasMoved = (session: Session, { requestId, epoch }: Asked<SessionRewind>): boolean =>
    epoch !== undefined && begunIn(session, requestId) === epoch;

  const isBegun = async ({ sessionId, requestId }: Asked<SessionRewind>): Promise<boolean> =>
    begunIn(await requireSession(sessions, sessionId), requestId) !== undefined ||
    (await store.getRewind(sessionId, requestId)) !== undefined;

  const requireDecided = (session: Session, request: Asked<SessionRewind>): Promise<boolean> =>
    hasMoved(session, request)
      ? Promise.resolve(true)
      : mayBegin(session, request.epoch, () => store.getRewind(session.sessionId, request.requestId));

  /**
   * Raises the epoch before the record is written, so that of two requests decided in one epoch only one
   * begins. False: this request has begun meanwhile.
   */
  const claim = async (request: Asked<SessionRewind>): Promise<boolean> => {
    const { sessionId, requestId } = request;
    const raise = async (): Promise<boolean | undefined> => {
      const session = await requireSession(sessions, sessionId);
      if (hasMoved(session, request)) return true;
      if (!(await requireDecided(session, request))) return false;
      if (session.busy !== undefined) requireFree(sessionId, session.busy, clock.now().getTime());
      const { epoch } = session;
      const raised = touch(session, { epoch: epoch + 1, begunRewind: { requestId, epoch } }, clock);
      return (await sessions.updateSession(raised, session.version)).written ? true : undefined;
    };
    const outcome = await retrying(RACE, clock, raise);
    if (outcome !== undefined) return outcome;
    throw writtenAllTheTime(sessionId);
  };

  /** From here on, work of the epoch in which the rewind began is stale (C9). */
  const fence = async ({ sessionId, epoch }: RewindRecord): Promise<void> => {
    const raise = async (): Promise<true | undefined> => {
      const session = await requireSession(sessions, sessionId);
      // The epoch may already be higher, because somebody raised it. Whoever holds the session raised it
      // before the rewind began, or will only do so later.
      if (session.epoch > epoch) return true;
      const raised = touch(session, { epoch: epoch + 1 }, clock);
      return (await sessions.updateSession(raised, session.version)).written ? true : undefined;
    };
    if ((await retrying(RACE, clock, raise)) === true) return;
    throw writtenAllTheTime(sessionId);
  };

  const begin = async (
    request: Asked<SessionRewind>,
    target: Checkpoint,
    epoch: number,
    sagas: readonly RewoundSaga[],
  ): Promise<RewindRecord> => {
    const { sessionId, requestId, guidance, by, acceptResidue = false } = request;
    const residue = acceptResidue && request.residue !== undefined ? residueKeys(sagas) : [];
    const isNamed = acceptResidue && request.residue !== undefined && residue.length <= MOST_NAMED;
    const record: RewindRecord = {
      sessionId,
      requestId,
      requestHash: rewindHash(request),
      checkpointId: target.checkpointId,
      epoch,
      by: nameOf(by),
      ...(guidance === undefined ? {} : { guidance }),
      ...(isNamed ? { residue } : {}),
      at: clock.now().toISOString(),
    };
    const outcome = await store.createRewind(record);
    if (outcome.written || outcome.existing === undefined) return record;
    requireSameRequest(outcome.existing, request);
    return outcome.existing;
  };

  const rewind = async (request: Asked<SessionRewind>, invocation: Invocation): Promise<RewindAnswer> => {
    const { sessionId, requestId, scope = 'all', guidance, acceptResidue = false, dryRun = false } = request;
    requireReason('reason', request, request.reason);
    const session = await requireSession(sessions, sessionId);
    const known = await store.getRewind(sessionId, requestId);
    if (known !== undefined) requireSameRequest(known, request);
    else if (!(await requireDecided(session, request))) return rewind(request, invocation);
    const begun = known === undefined && dryRun ? begunIn(session, requestId) : undefined;
    const point = known === undefined ? request.to : { checkpointId: known.checkpointId };
    const target = await findTarget(sessions, sessionId, point);
    const isAfter = isAfterTarget(await sessions.listTree(sessionId), target);
    const takesEffects = scope === 'all' || scope === 'effects';
    const takesFiles = scope === 'all';
    const named = { sessionId, requestId, checkpointId: target.checkpointId, by: request.by };
    const answer = (status: RewindAnswer['status'], sagas: RewoundSaga[], files?: RewindAnswer['files']) => ({
      requestId,
      status,
      checkpointId: target.checkpointId,
      ...fittingSagas(sagas),
      ...(files === undefined ? {} : { files }),
      ...(takesFiles || scope === 'conversation' ? { trimAfterMessageId: target.messageId } : {}),
      ...(guidance === undefined ? {} : { guidance }),
      ...(status === 'PLANNED' ? { epoch: session.epoch } : {}),
      ...(begun === undefined ? {} : { epoch: begun }),
    });

    // The record says that the rewind is done. What came since belongs to the way on, and is not looked at.
    const throughBefore = async () =>
      answer('REWOUND', [], takesFiles ? await bringFiles(dependencies, named, invocation) : undefined);
    if (known?.doneAt !== undefined) return throughBefore();
    if (known === undefined && takesFiles) requireActive(session);
    // Planning the files takes the sandbox some time, so the sagas are read after that.
    const isAhead = known === undefined && begun === undefined;
    const files = isAhead && takesFiles ? await planFiles(dependencies, named, invocation) : undefined;
    // A rewind that has begun first continues, and then reports what is left.
    const isTold = takesEffects && (known === undefined || dryRun);
    const sagas = isTold ? await sagasAfter(sessionId, isAfter) : [];
    if (isAhead) {
      // All refusals come before the first effect is undone.
      if (dryRun) {
        // When the request began meanwhile, what is left of it is no plan.
        if (await isBegun(request)) return rewind(request, invocation);
        return {
          ...answer('PLANNED', sagas, files),
          ...(takesEffects ? { residue: residueOf(sagas) } : {}),
        };
      }
      for (const { sagaId, plan } of sagas) requireReturn(sagaId, plan, acceptResidue);
      if (acceptResidue && takesEffects) {
        requireFresh(request.by, clock);
        requireSameResidue(sagas, request.residue);
      }
    } else if (dryRun) {
      return answer('UNDOING', sagas);
    }
    if (known === undefined && takesFiles && request.epoch !== undefined && !(await claim(request)))
      return rewind(request, invocation);
    const record = known ?? (await begin(request, target, request.epoch ?? session.epoch, sagas));
    if (takesEffects) {
      if (takesFiles) await fence(record);
      const waitMs = Math.min(
        (request.waitSeconds ?? 0) * 1000,
        Math.max(0, invocation.deadlineMs - clock.now().getTime() - FILES_MS),
      );
      const told = guidance === undefined ? {} : { guidance };
      const isThrough = async () => (await store.getRewind(sessionId, requestId))?.doneAt !== undefined;
      const accepted = record.residue === undefined ? {} : { accepted: new Set(record.residue) };
      const { by, reason } = request;
      const why = reason === undefined ? {} : { reason };
      const asked = { sessionId, requestId, by, acceptResidue, ...why, ...accepted, ...told };
      const order = { ...asked, isAfter, isThrough };
      const taken = await takeBackSagas(dependencies, order, waitMs);
      if (taken === 'through') return throughBefore();
      const left = await sagasAfter(sessionId, isAfter);
      if (taken !== 'done') return answer(taken === 'stopped' ? 'STOPPED' : 'UNDOING', left);
      sagas.splice(0, sagas.length, ...left);
    }
    const brought = takesFiles ? await bringFiles(dependencies, named, invocation) : undefined;
    await store.finishRewind({ ...record, doneAt: clock.now().toISOString() });
    return answer('REWOUND', sagas, brought);
  };
  return rewind;
};

/** The timeline that a rollback works on: the session's own or a review copy's, behind one interface. */
import type { SettledRollback } from '../../../contract/answer-fields.ts';
import type { Busy } from '../../../contract/checkpoint-answers.ts';
import { WalkbackError } from '../../shared/errors.ts';
import type { Clock } from '../../shared/surroundings.ts';
import type { ReviewCopy } from '../journals.ts';
import type { Session } from '../model.ts';
import type { SessionStore, TimelineMove } from '../ports/stores.ts';
import { touch } from './session-item.ts';
import { requireSession } from './session-rules.ts';

export interface WorkTimeline {
  session: Session;
  /** Set for a review copy. The session's head, epoch and messages then stay as they are. */
  copy?: ReviewCopy | undefined;
}

export const headSeqOf = (place: WorkTimeline): number => place.copy?.headSeq ?? place.session.headSeq;
export const busyOf = (place: WorkTimeline): Busy | undefined =>
  place.copy === undefined ? place.session.busy : place.copy.busy;
export const sandboxOf = (place: WorkTimeline): string => place.copy?.sandboxId ?? place.session.sandboxId;

const settledOf = (place: WorkTimeline): SettledRollback | undefined =>
  place.copy === undefined ? place.session.settledRollback : place.copy.settledRollback;

/** The name of a call, as recorded in a rollback that it settled. */
export const settledBy = (
  kind: 'checkpoint' | 'rollback' | 'rehydrate' | 'end-session',
  id: string,
): string => `${kind} ${id}`;

/** The rollback that this very call settled, even when the call is repeated. */
export const settledIn = (place: WorkTimeline, by: string): { settledRollback?: SettledRollback } => {
  const settledRollback = settledOf(place);
  return settledRollback?.by === by ? { settledRollback } : {};
};

/** Reads the timeline afresh. `sandboxId` names a review copy unless it is the session's own sandbox. */
export const findTimeline = async (
  store: SessionStore,
  sessionId: string,
  sandboxId: string | undefined,
): Promise<WorkTimeline> => timelineIn(store, await requireSession(store, sessionId), sandboxId);

/** The same, in a session that was just read. */
export const timelineIn = async (
  store: SessionStore,
  session: Session,
  sandboxId: string | undefined,
): Promise<WorkTimeline> => {
  const { sessionId } = session;
  if (sandboxId === undefined || sandboxId === session.sandboxId) return { session };
  const copy = await store.getCopy(sessionId, sandboxId);
  if (copy !== undefined) return { session, copy };
  throw new WalkbackError(
    'SandboxNotFound',
    `Sandbox "${sandboxId}" is neither the sandbox of session "${sessionId}" nor a review copy of it. Leave sandboxId out, or make a copy with walkback-rehydrate (walkback rehydrate --to POINT).`,
    { details: { sessionId, sandboxId } },
  );
};

export interface TimelineChange {
  headSeq?: number;
  busy: Busy | undefined;
  /** Only the session's own timeline has an epoch. */
  epoch?: number;
  /** The rollback settled with this move. The last one stays on record. */
  settledRollback?: SettledRollback | undefined;
}

/** The timeline after such a write. */
export const timelineAfter = (place: WorkTimeline, move: TimelineMove): WorkTimeline =>
  'copy' in move ? { ...place, copy: move.copy } : { ...place, session: move.session };

/** The write that moves a timeline. Both kinds are fenced by their version. */
export const moveTimeline = (place: WorkTimeline, change: TimelineChange, clock: Clock): TimelineMove => {
  const { session, copy } = place;
  const headSeq = change.headSeq ?? headSeqOf(place);
  const settledRollback = change.settledRollback ?? settledOf(place);
  if (copy !== undefined) {
    return {
      copy: { ...copy, headSeq, busy: change.busy, settledRollback, version: copy.version + 1 },
      expectedVersion: copy.version,
    };
  }
  const epoch = change.epoch ?? session.epoch;
  return {
    session: touch(session, { headSeq, busy: change.busy, epoch, settledRollback }, clock),
    expectedVersion: session.version,
  };
};

/** A write of the timeline alone. */
export const writeTimeline = (store: SessionStore, move: TimelineMove): Promise<{ written: boolean }> =>
  'copy' in move
    ? store.updateCopy(move.copy, move.expectedVersion)
    : store.updateSession(move.session, move.expectedVersion);

/**
 * Holds a timeline for a request that began there: other calls now wait until `untilMs`, not until the deadline of the
 * call we take over from. `raced`: another call wrote meanwhile, read again. `lost`: it is no longer held for this
 * request.
 */
export const holdTimeline = async (
  store: SessionStore,
  place: WorkTimeline,
  { requestId, untilMs }: Pick<Busy, 'requestId' | 'untilMs'>,
  clock: Clock,
): Promise<WorkTimeline | 'raced' | 'lost'> => {
  const busy = busyOf(place);
  if (busy?.requestId !== requestId) return 'lost';
  if (busy.untilMs >= untilMs) return place;
  const move = moveTimeline(place, { busy: { ...busy, untilMs } }, clock);
  return (await writeTimeline(store, move)).written ? timelineAfter(place, move) : 'raced';
};

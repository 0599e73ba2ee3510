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

export interface Place {
  session: Session;
  /** Set for a review copy. The session's head, epoch and messages then stay as they are. */
  copy?: ReviewCopy | undefined;
}

export const headSeqOf = (place: Place): number => place.copy?.headSeq ?? place.session.headSeq;
export const busyOf = (place: Place): Busy | undefined =>
  place.copy === undefined ? place.session.busy : place.copy.busy;
export const sandboxOf = (place: Place): string => place.copy?.sandboxId ?? place.session.sandboxId;

const settledOf = (place: Place): SettledRollback | undefined =>
  place.copy === undefined ? place.session.settledRollback : place.copy.settledRollback;

/** The name of a call, as recorded in a rollback that it settled. */
export const settledBy = (
  kind: 'checkpoint' | 'rollback' | 'rehydrate' | 'end-session',
  id: string,
): string => `${kind} ${id}`;

/** The rollback that this very call settled, even when the call is repeated. */
export const settledIn = (place: Place, by: string): { settledRollback?: SettledRollback } => {
  const settledRollback = settledOf(place);
  return settledRollback?.by === by ? { settledRollback } : {};
};

/** Reads the place afresh. `sandboxId` names a review copy unless it is the session's own sandbox. */
export const findPlace = async (
  store: SessionStore,
  sessionId: string,
  sandboxId: string | undefined,
): Promise<Place> => placeIn(store, await requireSession(store, sessionId), sandboxId);

/** The same, in a session that was just read. */
export const placeIn = async (
  store: SessionStore,
  session: Session,
  sandboxId: string | undefined,
): Promise<Place> => {
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

export interface PlaceChange {
  headSeq?: number;
  busy: Busy | undefined;
  /** Only the session's own timeline has an epoch. */
  epoch?: number;
  /** The rollback settled with this move. The last one stays on record. */
  settledRollback?: SettledRollback | undefined;
}

/** The place after such a write. */
export const placeAfter = (place: Place, move: TimelineMove): Place =>
  'copy' in move ? { ...place, copy: move.copy } : { ...place, session: move.session };

/** The write that moves a place. Both kinds are fenced by their version. */
export const movePlace = (place: Place, change: PlaceChange, clock: Clock): TimelineMove => {
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

/** A write of the place alone. */
export const writePlace = (store: SessionStore, move: TimelineMove): Promise<{ written: boolean }> =>
  'copy' in move
    ? store.updateCopy(move.copy, move.expectedVersion)
    : store.updateSession(move.session, move.expectedVersion);

/**
 * Holds a place for a request that began there: other calls now wait until `untilMs`, not until the deadline of the
 * call we take over from. `raced`: another call wrote meanwhile, read again. `lost`: it is no longer held for this
 * request.
 */
export const holdPlace = async (
  store: SessionStore,
  place: Place,
  { requestId, untilMs }: Pick<Busy, 'requestId' | 'untilMs'>,
  clock: Clock,
): Promise<Place | 'raced' | 'lost'> => {
  const busy = busyOf(place);
  if (busy?.requestId !== requestId) return 'lost';
  if (busy.untilMs >= untilMs) return place;
  const move = movePlace(place, { busy: { ...busy, untilMs } }, clock);
  return (await writePlace(store, move)).written ? placeAfter(place, move) : 'raced';
};

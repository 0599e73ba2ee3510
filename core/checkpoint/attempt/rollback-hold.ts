/**
 * Decides which call works on a rollback: the one that holds its timeline, until that call's deadline or
 * until it lets go.
 */
import type { Invocation } from '../../shared/deadline.ts';
import type { Clock, Log } from '../../shared/surroundings.ts';
import type { RollbackJournal } from '../model.ts';
import type { SessionStore } from '../ports/stores.ts';
import { busyOf, findPlace, movePlace, type Place, placeAfter } from '../session/place.ts';
import { copyOf, isOpen } from './rollback-phase.ts';

export const createRollbackHold = (deps: { store: SessionStore; clock: Clock; log: Log }) => {
  const { store, clock, log } = deps;
  return {
    /**
     * Takes the hold: other calls now wait until our deadline, not until that of the invocation we take
     * over from. `raced`: another call wrote meanwhile, read again. `lost`: the timeline is no longer held
     * for this request.
     */
    hold: async (
      journal: RollbackJournal,
      place: Place,
      invocation: Invocation,
    ): Promise<Place | 'raced' | 'lost'> => {
      const busy = busyOf(place);
      if (busy?.requestId !== journal.requestId) return 'lost';
      if (busy.untilMs >= invocation.deadlineMs) return place;
      const move = movePlace(place, { busy: { ...busy, untilMs: invocation.deadlineMs } }, clock);
      const outcome = await ('copy' in move
        ? store.updateCopy(move.copy, move.expectedVersion)
        : store.updateSession(move.session, move.expectedVersion));
      return outcome.written ? placeAfter(place, move) : 'raced';
    },

    /**
     * Lets go when a run stops without having ended the journal. The next call may then go on at once, and
     * need not wait for the deadline of a finished call. If this fails, the next call waits.
     */
    letGo: async (sessionId: string, requestId: string, invocation: Invocation): Promise<void> => {
      try {
        const journal = await store.getRollback(sessionId, requestId);
        if (journal === undefined || !isOpen(journal)) return;
        const place = await findPlace(store, sessionId, copyOf(journal));
        const busy = busyOf(place);
        const isOurs = busy?.requestId === requestId && busy.untilMs === invocation.deadlineMs;
        if (!isOurs) return;
        const move = movePlace(place, { busy: { ...busy, untilMs: clock.now().getTime() } }, clock);
        await ('copy' in move
          ? store.updateCopy(move.copy, move.expectedVersion)
          : store.updateSession(move.session, move.expectedVersion));
      } catch (error) {
        log.warn('rollback not let go', { requestId, reason: String(error) });
      }
    },
  };
};

/** Finds the session for a host's own conversation. */
import { isWalkbackError } from './errors.ts';
import type { Session } from './session.ts';
import type { Walkback } from './walkback.ts';

const MOST_ENDED = 100;

/**
 * The session of this id on the directory. When that one has ended or works somewhere else, the next one
 * (`ID-2`, `ID-3`, ...).
 */
export const hostSession = async (walkback: Walkback, root: string, id: string): Promise<Session> => {
  for (let turn = 1; ; turn += 1) {
    try {
      return await walkback.sessions.start({ root, sessionId: turn === 1 ? id : `${id}-${turn}` });
    } catch (error) {
      if (turn === MOST_ENDED || !isWalkbackError(error, 'SessionConflict')) throw error;
    }
  }
};

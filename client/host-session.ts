/** Finds the session for a host's own conversation. */
import type { ListedSession } from '../contract/checkpoint-answers.ts';
import { isWalkbackError } from './errors.ts';
import type { Session } from './session.ts';
import type { Walkback } from './walkback.ts';

const MOST_ENDED = 100;

/** 1 for `ID`, 2 for `ID-2`. Undefined for a session of another conversation. */
const turnOf = (sessionId: string, id: string): number | undefined => {
  if (sessionId === id) return 1;
  const turn = sessionId.startsWith(`${id}-`) ? /^[1-9]\d*$/.exec(sessionId.slice(id.length + 1)) : null;
  return turn === null ? undefined : Number(turn[0]);
};

/** The last of the conversation's sessions that are active. */
export const newestOf = (
  sessions: readonly Pick<ListedSession, 'sessionId' | 'status'>[],
  id: string,
): string | undefined =>
  sessions
    .filter(({ status }) => status === 'active')
    .flatMap(({ sessionId }) => ({ sessionId, turn: turnOf(sessionId, id) ?? 0 }))
    .filter(({ turn }) => turn > 0)
    .toSorted((a, b) => b.turn - a.turn)[0]?.sessionId;

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

/**
 * The newest session of the conversation that is still active: `ID`, or `ID-2` and so on. Undefined when
 * there is none. It starts none.
 */
export const findHostSession = async (walkback: Walkback, id: string): Promise<Session | undefined> => {
  const sessions = await walkback.sessions.list();
  const newest = newestOf(sessions, id);
  return newest === undefined ? undefined : walkback.sessions.get(newest);
};

import { sagaTitle } from '../present/saga-words.ts';
import { printableLine } from '../present/text.ts';
import type { Run } from './app.ts';
import { repositoriesLocation } from './session-place.ts';

/**
 * `Undo saga s-1 (Refund 25.00 EUR, order 2001)?`, with the session that the saga belongs to and where it is, so
 * that nobody takes back the work of another project. What is no longer known (a session that expired, a sandbox
 * that is gone) is left out, and the question is asked all the same.
 */
export const sagaQuestion = async (
  run: Pick<Run, 'invoke' | 'sandboxes'>,
  verb: string,
  sagaId: string,
): Promise<string> => {
  const seen = await run.invoke('walkback-describe-saga', { sagaId, subject: true }).catch(() => undefined);
  const title = seen === undefined ? sagaId : sagaTitle(seen);
  const named = title === sagaId ? sagaId : `${sagaId} (${printableLine(title)})`;
  const session = seen?.session;
  if (session === undefined) return `${verb} saga ${named}?`;
  const { sessionId } = session;
  const place = await repositoriesLocation(run, sessionId).catch(() => undefined);
  return `${verb} saga ${named} of session ${printableLine(sessionId)}${place === undefined ? '' : ` in ${place}`}?`;
};

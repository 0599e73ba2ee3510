import { printableLine } from '../present/text.ts';
import type { Run } from './app.ts';
import { placeIn } from './session-place.ts';

/**
 * `Undo saga s-1?`, with the session that the saga belongs to and where it is, so that nobody takes back the
 * work of another project. What is no longer known (a session that expired, a sandbox that is gone) is left
 * out, and the question is asked all the same.
 */
export const sagaQuestion = async (
  run: Pick<Run, 'invoke' | 'sandboxes'>,
  verb: string,
  sagaId: string,
): Promise<string> => {
  const seen = await run.invoke('walkback-describe-saga', { sagaId }).catch(() => undefined);
  const session = seen?.session;
  if (session === undefined) return `${verb} saga ${sagaId}?`;
  const { sessionId } = session;
  const place = await placeIn(run, sessionId).catch(() => undefined);
  return `${verb} saga ${sagaId} of session ${printableLine(sessionId)}${place === undefined ? '' : ` in ${place}`}?`;
};

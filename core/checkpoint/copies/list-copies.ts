import type { ListCopiesAnswer } from '../../../contract/checkpoint-answers.ts';
import type { ListCopiesInput } from '../../../contract/checkpoint-inputs.ts';
import { requireSession } from '../session/session-rules.ts';
import { type CopiesDeps, createReviewCopies } from './review-copies.ts';

/**
 * Lists review copies and the sandboxes that forks and resumes left behind, oldest first. Throws
 * `SessionNotFound` for a session that does not exist, unless copies of it still do.
 */
export const createListCopies = (deps: CopiesDeps) => {
  const { look } = createReviewCopies(deps);
  return async ({ sessionId }: ListCopiesInput): Promise<ListCopiesAnswer> => {
    const seen = await look(sessionId === undefined ? {} : { 'walkback-session': sessionId });
    if (sessionId !== undefined && seen.length === 0) await requireSession(deps.store, sessionId);
    return { copies: seen.flatMap(({ standing }) => (standing.kind === 'copy' ? [standing.copy] : [])) };
  };
};

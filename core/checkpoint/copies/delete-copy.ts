/**
 * Kills the sandbox of a review copy. A sandbox that a session works in is never killed, nor one that
 * Walkback did not make. A session that somebody starts in a copy in the same second is not seen; its
 * baseline is stored, like that of any session.
 */
import type { DeleteCopyAnswer } from '../../../contract/checkpoint-answers.ts';
import type { DeleteCopyInput } from '../../../contract/checkpoint-inputs.ts';
import type { Invocation } from '../../shared/deadline.ts';
import { WalkbackError } from '../../shared/errors.ts';
import { type CopyWorkDeps, createCopyWork } from './copy-work.ts';
import { type CopiesDeps, createReviewCopies } from './review-copies.ts';

export const createDeleteCopy = (deps: CopiesDeps & CopyWorkDeps) => {
  const { look } = createReviewCopies(deps);
  const workOf = createCopyWork(deps);
  return async (
    { sandboxId, dryRun }: DeleteCopyInput,
    invocation: Invocation,
  ): Promise<DeleteCopyAnswer> => {
    const standing = (await look({})).find((one) => one.sandboxId === sandboxId)?.standing;
    // It was deleted before, or its time had run out.
    if (standing === undefined) return { sandboxId, deleted: false };
    const details = { sandboxId };
    if (standing.kind === 'used') {
      throw new WalkbackError(
        'SessionConflict',
        `Session "${standing.sessionId}" works in sandbox ${sandboxId}. It was not deleted; end the session first.`,
        { details },
      );
    }
    if (standing.kind === 'foreign') {
      throw new WalkbackError(
        'InvalidInput',
        `sandboxId: ${sandboxId} is no review copy of this deployment. It was not deleted.`,
        { details: { fields: ['sandboxId'] } },
      );
    }
    if (standing.copy.state === 'busy') {
      throw new WalkbackError(
        'RequestConflict',
        `Another call works in sandbox ${sandboxId} now. It was not deleted; call again when that is done.`,
        { retryable: true, details },
      );
    }
    if (dryRun === true) {
      const work = await workOf(standing, invocation);
      return { sandboxId, deleted: false, ...(work !== undefined && { work }) };
    }
    const deleted = await deps.sandboxes.kill(sandboxId);
    deps.log.info('review copy deleted', { sandboxId, sessionId: standing.copy.sessionId });
    return { sandboxId, deleted };
  };
};

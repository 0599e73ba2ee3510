/**
 * What a review copy holds that no checkpoint holds, before it is deleted. A copy has no session of its own, so
 * nothing captures this work: a person is told of it, and decides. Stores nothing.
 */
import type { DeleteCopyAnswer } from '../../../contract/checkpoint-answers.ts';
import type { Invocation } from '../../shared/deadline.ts';
import { isWalkbackError } from '../../shared/errors.ts';
import type { CaptureDeps } from '../capture/capture.ts';
import { createUncapturedWork } from '../capture/uncaptured-work.ts';
import type { Session } from '../model.ts';
import type { Sandboxes } from '../ports/sandbox.ts';
import type { Standing } from './review-copies.ts';

export type CopyWorkDeps = Pick<CaptureDeps, 'store' | 'repositories' | 'clock' | 'log'> & {
  sandboxes: Sandboxes;
};

type Copy = Extract<Standing, { kind: 'copy' }>;
type Work = NonNullable<DeleteCopyAnswer['work']>;

export const createCopyWork = (deps: CopyWorkDeps) => {
  const { store } = deps;
  const uncapturedWorkOf = createUncapturedWork(deps);

  /** Whose captures the copy holds. A fork that has ended left its sandbox, with its own captures in it. */
  const ownerOf = async ({ copy, headSeq }: Copy): Promise<Session | undefined> => {
    const { sandboxId, sessionId, requestId, madeFor } = copy;
    const fork = madeFor === 'fork' ? await store.getSession(requestId) : undefined;
    if (fork !== undefined) return { ...fork, sandboxId };
    const session = await store.getSession(sessionId);
    return session === undefined ? undefined : { ...session, sandboxId, headSeq };
  };

  /** Undefined where the copy is gone. An error of the sandbox counts as work that is not known. */
  return async (copy: Copy, invocation: Invocation): Promise<Work | undefined> => {
    const unknown = (checkpointId: string | null, reason: string): Work => ({
      checkpointId,
      changed: [],
      uncaptured: [{ path: '.', reason }],
    });
    const owner = await ownerOf(copy);
    if (owner === undefined)
      return unknown(null, 'its session has expired, so nothing is known to compare with');
    const stands = await store.getCheckpoint(owner.sessionId, owner.headSeq);
    const checkpointId = stands?.checkpointId ?? null;
    try {
      const by = `delete-${copy.copy.sandboxId}`.slice(0, 60);
      const { changed, uncaptured } = await uncapturedWorkOf(owner, by, invocation);
      return { checkpointId, changed, uncaptured };
    } catch (error) {
      if (!isWalkbackError(error)) throw error;
      if (error.name === 'SandboxNotFound') return undefined;
      deps.log.warn('a copy was not looked at', {
        sandboxId: copy.copy.sandboxId,
        reason: error.message,
      });
      return unknown(checkpointId, error.message);
    }
  };
};

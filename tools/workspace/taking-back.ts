/** What the compensators of workspaces share: when there is nothing left to take back, and when a person has to. */
import type { SessionStore } from '../../core/checkpoint/ports/stores.ts';
import { pathTo } from '../../core/checkpoint/timeline/tree.ts';
import { isWalkbackError } from '../../core/shared/errors.ts';
import { ToolRejected } from '../../kit/outcomes.ts';
import { refusing } from './uses.ts';

type Sessions = Pick<SessionStore, 'getSession'>;

/** As `forkIds` makes them. */
const FORK = /^fork-[0-9a-f]{20}$/;

/**
 * A fork that ended is gone with all that was done in it. Another session that ended is not: its sandbox is its owner's, and
 * what was done there stands.
 */
export const isGone = async (
  store: Sessions,
  sessionId: string,
  { externalRef }: { externalRef?: string },
): Promise<boolean> => {
  const session = await store.getSession(sessionId);
  if (session !== undefined) return session.status === 'ended' && session.forkedFrom !== undefined;
  if (externalRef === undefined || FORK.test(sessionId)) return true;
  throw new ToolRejected(
    'SessionNotFound',
    `Session "${sessionId}" is no longer kept, so what was done in it (checkpoint ${externalRef}) cannot be taken back. Look at its files.`,
  );
};

/**
 * Somebody rolled the session back to before this checkpoint, so nothing that was done from there on is in its files. Taking it
 * back would bring what was there at the checkpoint. Not when `requestId` began to take it back: that is brought to its end. Nor where
 * the way holds a checkpoint after `begin`, where the work began: a part of it stands.
 */
export const isLeftBehind = async (
  store: Pick<SessionStore, 'getSession' | 'listTree' | 'getRollback'>,
  sessionId: string,
  {
    checkpointId,
    requestId,
    begin = checkpointId,
  }: { checkpointId: string; requestId: string; begin?: string },
): Promise<boolean> => {
  if ((await store.getRollback(sessionId, requestId)) !== undefined) return false;
  const session = await store.getSession(sessionId);
  const tree = await store.listTree(sessionId);
  const seqOf = (id: string) => tree.find((node) => node.checkpointId === id)?.seq;
  const seq = seqOf(checkpointId);
  if (session === undefined || seq === undefined) return false;
  const beginSeq = seqOf(begin) ?? seq;
  const path = pathTo(tree, session.headSeq);
  // Retention may have removed a part of the way: then it is not known.
  return !path.some((one) => one === seq || (one > beginSeq && one < seq)) && path.some((one) => one < seq);
};

/**
 * A fork without a sandbox is tried again: the compensator that ends the fork may come next, and then nothing is left to take back,
 * or somebody resumes it.
 */
const mayEnd = async (store: Sessions, sessionId: string, { code }: ToolRejected): Promise<boolean> =>
  code === 'SandboxNotFound' && (await store.getSession(sessionId))?.forkedFrom !== undefined;

/** What cannot change by itself reaches a person at once, with `reference`; anything else is tried again. */
export const orPerson = async <T>(
  { store, sessionId, reference }: { store: Sessions; sessionId: string; reference: string },
  work: () => Promise<T>,
): Promise<T> => {
  const told = (name: string, message: string, retryable = false) =>
    new ToolRejected(name, `${message.slice(0, 900 - reference.length)} ${reference}`, { retryable });
  try {
    return await refusing(work);
  } catch (error) {
    if (error instanceof ToolRejected && !error.retryable) {
      throw told(error.code, error.message, await mayEnd(store, sessionId, error));
    }
    // A rollback that was given up: asked again, it answers the same for ever.
    if (isWalkbackError(error) && error.name === 'RollbackIncomplete' && !error.retryable) {
      throw told(error.name, error.message);
    }
    throw error;
  }
};

/** Where what was there before is kept. */
export const keptIn = (checkpointId: string, sessionId: string): string =>
  `Checkpoint ${checkpointId} of session ${sessionId} holds what was there before; walkback rehydrate shows it.`;

/** Finds the checkpoint that a caller means, and checks whether a rollback to it is allowed. */
import { WalkbackError } from '../../shared/errors.ts';
import { checkpointSeq } from '../../shared/ids.ts';
import type { Checkpoint } from '../model.ts';
import type { SessionStore } from '../ports/stores.ts';
import { nearestIds, newestRestorable } from './tree.ts';
import { workSince } from './whose-work.ts';

export interface TargetName {
  messageId?: string | undefined;
  checkpointId?: string | undefined;
}

/** What a message id or a checkpoint id names; nothing for `head`. */
export const targetNamed = (point: string | undefined): TargetName => {
  if (point === undefined || point === 'head') return {};
  return checkpointSeq(point) === undefined ? { messageId: point } : { checkpointId: point };
};

const named = (ids: string[]): string => (ids.length === 0 ? 'none yet' : ids.join(', '));

const newestIds = async (store: SessionStore, sessionId: string): Promise<string[]> =>
  (await store.listCheckpoints(sessionId, { limit: 5 })).map((one) => one.checkpointId);

/**
 * A caller that writes `cp-...` means a checkpoint, but gave only part of its id, or gave it where a message
 * id belongs.
 */
const refuseCheckpointName = async (store: SessionStore, sessionId: string, messageId: string) => {
  if (!messageId.startsWith('cp-')) return;
  const newest = await newestIds(store, sessionId);
  throw new WalkbackError(
    'MessageNotFound',
    `"${messageId}" was taken for a message id, and session "${sessionId}" has no such message. A checkpoint is named by its whole id, as checkpointId (of a revert: in checkpointIds), or where either is taken; the walkback command also takes its number, as in cp-3. Newest checkpoints: ${named(newest)}.`,
    { details: { sessionId, messageId, newest } },
  );
};

/**
 * A turn that was cut may have no checkpoint of its own. Its message is then known, but has no checkpoint
 * yet.
 */
const refuseWorkSinceHead = async (store: SessionStore, sessionId: string, messageId: string) => {
  const session = await store.getSession(sessionId);
  const head = session && (await store.getCheckpoint(sessionId, session.headSeq));
  if (session === undefined || head === undefined || workSince(head, session).messageId !== messageId) return;
  const { checkpointId: id } = head;
  const advice =
    session.status === 'active'
      ? `Take one (session.checkpoint(), or walkback checkpoint --message ${messageId}), then call again. To take that work back, go back to ${id}.`
      : `The session has ended; ${id} is what was before that work.`;
  throw new WalkbackError(
    'MessageNotFound',
    `The work of message "${messageId}" begins after the last checkpoint, ${id}, and no checkpoint holds it yet. ${advice}`,
    { details: { sessionId, messageId, lastCheckpoint: id } },
  );
};

const findByMessage = async (store: SessionStore, sessionId: string, messageId: string) => {
  const message = await store.findMessage(sessionId, messageId);
  if (message !== undefined) return message.lastSeq;
  await refuseWorkSinceHead(store, sessionId, messageId);
  await refuseCheckpointName(store, sessionId, messageId);
  const known = (await store.listMessages(sessionId)).map((one) => one.messageId);
  const nearest = nearestIds(known, messageId);
  throw new WalkbackError(
    'MessageNotFound',
    `Session "${sessionId}" has no checkpoint for message "${messageId}". Nearest known messages: ${named(nearest)}.`,
    { details: { sessionId, messageId, nearest } },
  );
};

const notFound = async (store: SessionStore, sessionId: string, wanted: string) => {
  const ids = await newestIds(store, sessionId);
  return new WalkbackError(
    'CheckpointNotFound',
    `Session "${sessionId}" has no checkpoint ${wanted}, or its retention is over. Newest: ${named(ids)}.`,
    { details: { sessionId, newest: ids } },
  );
};

/**
 * The checkpoint a message or a checkpoint id stands for; both: that checkpoint of the message. `defaultSeq` when the caller named
 * neither.
 */
export const findTarget = async (
  store: SessionStore,
  sessionId: string,
  name: TargetName,
  defaultSeq?: number,
): Promise<Checkpoint> => {
  const { messageId, checkpointId } = name;
  let seq = defaultSeq;
  if (checkpointId !== undefined) seq = checkpointSeq(checkpointId);
  else if (messageId !== undefined) seq = await findByMessage(store, sessionId, messageId);
  const found = seq === undefined ? undefined : await store.getCheckpoint(sessionId, seq);
  const isWanted =
    checkpointId === undefined ||
    (found?.checkpointId === checkpointId && (messageId ?? found.messageId) === found.messageId);
  if (found === undefined || !isWanted) {
    const name = checkpointId ?? `with number ${seq ?? '?'}`;
    const of = messageId === undefined || checkpointId === undefined ? '' : ` of message "${messageId}"`;
    throw await notFound(store, sessionId, `${name}${of}`);
  }
  return found;
};

/** Whoever goes there is told. */
export const halfWrittenWarnings = ({ checkpointId, halfWritten }: Checkpoint): string[] =>
  halfWritten === true
    ? [
        `${checkpointId} was taken where a rollback had broken off while it wrote: it may hold parts of what was there before and of what that rollback went to`,
      ]
    : [];

/** The missing parts of an incomplete checkpoint, described for a person. */
const missingIn = (target: Checkpoint): string[] =>
  target.failures.map(({ path, reason }) => `${path} (${reason})`);

/** Refuses an incomplete checkpoint, and points to the newest complete one before it. */
export const requireComplete = async (store: SessionStore, target: Checkpoint): Promise<void> => {
  if (target.complete) return;
  const tree = await store.listTree(target.sessionId);
  const better = newestRestorable(tree, target.seq)?.checkpointId;
  const advice = better === undefined ? '' : ` or go back to ${better}, the newest complete one before it`;
  const missing = missingIn(target);
  throw new WalkbackError(
    'IncompleteTarget',
    `Checkpoint ${target.checkpointId} does not hold everything: ${missing.slice(0, 10).join('; ')}. Give allowPartial to restore what it holds${advice}.`,
    { details: { checkpointId: target.checkpointId, missing: target.failures, newestComplete: better } },
  );
};

/**
 * Converts between items of the Sessions table and the model. An item is the model with its key in front.
 * It differs only where a name is also the key of an index: `messageId` is absent when it is null, and a
 * message's own item calls it `id`, so that the index of messages holds only checkpoints.
 */
import type { ChainLink, StoredUpload } from '../../../core/checkpoint/bundles.ts';
import type { RehydrateJournal, ReviewCopy, RollbackJournal } from '../../../core/checkpoint/journals.ts';
import type { Checkpoint, CheckpointContent, Message, Session } from '../../../core/checkpoint/model.ts';
import { outlineOf } from '../../../core/checkpoint/timeline/outline.ts';
import { WalkbackError } from '../../../core/shared/errors.ts';
import { jsonBytes } from '../../../core/shared/json-bytes.ts';
import { plural } from '../../../core/shared/plural.ts';
import { SESSION_FORMAT } from '../item-format.ts';
import type { Item } from '../table-reads.ts';
import {
  checkpointKey,
  copyKey,
  linkKey,
  messageIdKey,
  messageOrderKey,
  rehydrateKey,
  rollbackKey,
  sessionKey,
  toolKey,
  uploadKey,
} from './session-keys.ts';

/** DynamoDB's limit is 400 KB, measured on its own encoding; JSON is a little longer than that. */
const MAX_ITEM_BYTES = 400_000;

const isTooLarge = (item: Item): boolean => jsonBytes(item) > MAX_ITEM_BYTES;

export const sessionItem = (session: Session): Item => {
  const item = { ...sessionKey(session.sessionId), format: SESSION_FORMAT, ...session };
  if (!isTooLarge(item)) return item;
  throw new WalkbackError(
    'InvalidInput',
    'include, exclude and metadata together do not fit into one item of the table (400 KB). Shorten them.',
    { details: { fields: ['include', 'exclude', 'metadata'] } },
  );
};

/** What people read gives way to what a restore needs: versions of the content that hold less and less. */
const lesserContents = (content: CheckpointContent | undefined): (CheckpointContent | undefined)[] => {
  if (content === undefined) return [undefined];
  const { changes = [], object, said, message, tool } = content;
  const problem = `the changes of ${plural(changes.length, 'repository', 'repositories')} are not kept: the checkpoint has no room for them`;
  const texts = { ...(message && { message }), ...(tool && { tool }), ...(said && { object, said }) };
  return [content, { ...texts, problem }, { problem: 'the checkpoint has no room for it' }];
};

/** The entries of the stash are only information, so they are left out before a checkpoint fails. */
const withoutStash = (repositories: Checkpoint['repositories']): Checkpoint['repositories'] =>
  repositories.map((one) => {
    const { stash: _, ...state } = one;
    return state;
  });

export const checkpointItem = (checkpoint: Checkpoint): Item => {
  const { messageId, content, repositories, ...rest } = checkpoint;
  const contents = lesserContents(content);
  const smaller = [
    ...contents.map((kept) => ({ kept, states: repositories })),
    { kept: contents.at(-1), states: withoutStash(repositories) },
  ];
  for (const { kept, states } of smaller) {
    const item = {
      ...checkpointKey(checkpoint.sessionId, checkpoint.seq),
      ...rest,
      repositories: states,
      content: kept,
      ...(messageId !== null && { messageId }),
    };
    if (!isTooLarge(item)) return item;
  }
  throw new WalkbackError(
    'CaptureFailed',
    `A checkpoint of ${plural(checkpoint.repositories.length, 'repository', 'repositories')} does not fit into one item of the table (400 KB). Exclude some, or spread them over several sessions.`,
    { details: { repositories: checkpoint.repositories.length } },
  );
};

/**
 * Also holds a small outline of the checkpoint, so that a tree or a list of many checkpoints is read in one
 * go.
 */
export const toolItem = (checkpoint: Checkpoint): Item => ({
  ...toolKey(checkpoint.sessionId, checkpoint.toolExecutionId),
  seq: checkpoint.seq,
  expiresAt: checkpoint.expiresAt,
  node: outlineOf(checkpoint),
});

/** A message has two items: one is found by its order, one by its id. */
export const messageItems = (sessionId: string, message: Message, expiresAt: number): Item[] => {
  const { messageId, ...rest } = message;
  const body = { ...rest, id: messageId, expiresAt };
  return [
    { ...messageOrderKey(sessionId, message.order), ...body },
    { ...messageIdKey(sessionId, messageId), ...body },
  ];
};

export const linkItem = (link: ChainLink): Item => ({
  ...linkKey(link.sessionId, link.chainId, link.link, link.commit),
  ...link,
});

export const uploadItem = (upload: StoredUpload): Item => ({ ...uploadKey(upload.key), ...upload });

export const rollbackItem = (journal: RollbackJournal): Item => ({
  ...rollbackKey(journal.sessionId, journal.requestId),
  ...journal,
});

export const rehydrateItem = (journal: RehydrateJournal): Item => ({
  ...rehydrateKey(journal.sessionId, journal.requestId),
  ...journal,
});

export const copyItem = (copy: ReviewCopy): Item => ({
  ...copyKey(copy.sessionId, copy.sandboxId),
  ...copy,
});

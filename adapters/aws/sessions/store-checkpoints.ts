/** Checkpoints, the tool executions that name them, and messages. */
import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import type { CheckpointOutline, SessionStore, TreeNode } from '../../../core/checkpoint/ports/stores.ts';
import { nodeOf } from '../../../core/checkpoint/timeline/outline.ts';
import { hasVersion, isNew, isOpen } from '../conditions.ts';
import { isNamed, toWalkbackError } from '../errors.ts';
import { prolongInput } from '../lasting-item.ts';
import type { Table } from '../table.ts';
import type { Key } from '../table-reads.ts';
import { type ConditionalPut, MAX_TRANSACTION } from '../table-writes.ts';
import {
  checkpointItem,
  copyItem,
  linkItem,
  messageItems,
  rollbackItem,
  sessionItem,
  toolItem,
} from './session-items.ts';
import {
  CHECKPOINT_PREFIX,
  checkpointKey,
  MESSAGE_PREFIX,
  messageIdKey,
  sessionKey,
  TOOL_PREFIX,
  toolKey,
} from './session-keys.ts';
import { outcomeFor, transactSession } from './store-sessions.ts';
import {
  readCheckpoint,
  readMessage,
  readOutline,
  readSession,
  readTreeNode,
  treeNodeFields,
} from './stored-items.ts';

type Methods = Pick<
  SessionStore,
  | 'commitCheckpoint'
  | 'getCheckpoint'
  | 'findCheckpointByTool'
  | 'listCheckpoints'
  | 'listTree'
  | 'listOutlines'
  | 'prolongCheckpoint'
  | 'findMessage'
  | 'listMessages'
>;

const BONES = Object.keys(treeNodeFields.shape);

export const createCheckpointMethods = (
  table: Table,
  { putLinks }: Pick<SessionStore, 'putLinks'>,
): Methods => {
  const getCheckpoint: Methods['getCheckpoint'] = async (sessionId, seq) => {
    const item = await table.get(checkpointKey(sessionId, seq));
    return item === undefined ? undefined : readCheckpoint(item);
  };

  /**
   * A projection costs as much as reading the whole items: megabytes, for many checkpoints with many
   * repositories.
   */
  const wholeTree = async (sessionId: string): Promise<TreeNode[]> => {
    const { pk } = sessionKey(sessionId);
    return (await table.query(pk, { prefix: CHECKPOINT_PREFIX }, { attributes: BONES })).map(readTreeNode);
  };

  /**
   * Read from the small items that are written beside the checkpoints. Undefined when the parent of one is
   * missing: the table removes expired items in any order, so its checkpoint may be there still.
   */
  const listOutlines = async (sessionId: string): Promise<CheckpointOutline[] | undefined> => {
    const items = await table.query(sessionKey(sessionId).pk, { prefix: TOOL_PREFIX });
    const outlines = items.map(readOutline);
    const known = new Set(outlines.map(({ seq }) => seq));
    const isWhole =
      outlines.length > 0 && outlines.every(({ parentSeq }) => parentSeq === null || known.has(parentSeq));
    return isWhole ? outlines.toSorted((one, other) => one.seq - other.seq) : undefined;
  };

  const prolong = async (key: Key, expiresAt: number): Promise<void> => {
    const command = new UpdateCommand(prolongInput(table.tableName, key, expiresAt));
    try {
      await table.client.send(command);
    } catch (error) {
      // Gone, or living longer already.
      if (!isNamed(error, 'ConditionalCheckFailedException')) throw toWalkbackError('DynamoDB', error);
    }
  };

  return {
    commitCheckpoint: async ({
      session,
      expectedVersion,
      checkpoint,
      message,
      journal,
      begins,
      copy,
      links = [],
    }) => {
      const { sessionId, expiresAt } = checkpoint;
      const writes: ConditionalPut[] = [
        { item: sessionItem(session), condition: hasVersion(expectedVersion) },
        { item: checkpointItem(checkpoint), condition: isNew },
        { item: toolItem(checkpoint), condition: isNew },
      ];
      if (message !== undefined) {
        writes.push(...messageItems(sessionId, message, expiresAt).map((item) => ({ item })));
      }
      if (journal !== undefined) {
        writes.push({ item: rollbackItem(journal), condition: begins === true ? isNew : isOpen });
      }
      if (copy !== undefined) {
        writes.push({ item: copyItem(copy.copy), condition: hasVersion(copy.expectedVersion) });
      }
      // Links that do not fit are stored first, when no checkpoint names them yet (C1).
      const room = MAX_TRANSACTION - writes.length;
      await putLinks(links.slice(room));
      const lasting = links.slice(0, room).map((link) => ({ lasting: linkItem(link) }));
      const outcome = await transactSession(table, [...writes, ...lasting]);
      return outcomeFor(outcome, 'META', readSession);
    },

    getCheckpoint,

    findCheckpointByTool: async (sessionId, toolExecutionId) => {
      const seq = (await table.get(toolKey(sessionId, toolExecutionId)))?.seq;
      return typeof seq === 'number' ? getCheckpoint(sessionId, seq) : undefined;
    },

    listCheckpoints: async (sessionId, { limit, maxBytes, beforeSeq }) => {
      if (beforeSeq !== undefined && beforeSeq <= 0) return [];
      const before = beforeSeq === undefined ? undefined : checkpointKey(sessionId, beforeSeq - 1).sk;
      const { pk } = sessionKey(sessionId);
      const items = await table.query(
        pk,
        { prefix: CHECKPOINT_PREFIX, before },
        { limit, maxBytes, newestFirst: true },
      );
      return items.map(readCheckpoint);
    },

    listTree: async (sessionId) =>
      (await listOutlines(sessionId))?.map((one) => nodeOf(one)) ?? wholeTree(sessionId),

    listOutlines,

    prolongCheckpoint: async ({ sessionId, seq, toolExecutionId }, expiresAt) => {
      // The small item first, so that it never expires before the checkpoint.
      await prolong(toolKey(sessionId, toolExecutionId), expiresAt);
      await prolong(checkpointKey(sessionId, seq), expiresAt);
    },

    findMessage: async (sessionId, messageId) => {
      const item = await table.get(messageIdKey(sessionId, messageId));
      return item === undefined ? undefined : readMessage(item);
    },

    listMessages: async (sessionId) =>
      (await table.query(sessionKey(sessionId).pk, { prefix: MESSAGE_PREFIX })).map(readMessage),
  };
};

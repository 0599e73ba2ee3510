/** Journals of rollbacks and rehydrates. A journal that ended is never written again. */
import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import type { RollbackJournal } from '../../../core/checkpoint/journals.ts';
import type { KeptCheckpoint, SessionStore, TimelineMove } from '../../../core/checkpoint/ports/stores.ts';
import { and, hasAttempt, hasVersion, isHeld, isNew, isOpen } from '../conditions.ts';
import { isNamed, toWalkbackError } from '../errors.ts';
import type { Table } from '../table.ts';
import type { ConditionalPut } from '../table-writes.ts';
import { copyItem, rehydrateItem, rollbackItem, sessionItem, uploadItem } from './session-items.ts';
import { checkpointKey, rehydrateKey, rollbackKey, toolKey } from './session-keys.ts';
import { outcomeFor, transactSession } from './store-sessions.ts';
import { readRehydrate, readRollback } from './stored-items.ts';

type Methods = Pick<
  SessionStore,
  | 'getRollback'
  | 'beginRollback'
  | 'moveRollback'
  | 'getRehydrate'
  | 'createRehydrate'
  | 'moveRehydrate'
  | 'holdRehydrate'
>;

const movePut = (move: TimelineMove): ConditionalPut => ({
  item: 'copy' in move ? copyItem(move.copy) : sessionItem(move.session),
  condition: hasVersion(move.expectedVersion),
});

const keptWrites = ({
  checkpoint: { sessionId, seq, toolExecutionId },
  expiresAt,
  uploads,
}: KeptCheckpoint) => [
  ...uploads.map((one) => ({ item: uploadItem(one) })),
  { prolong: toolKey(sessionId, toolExecutionId), expiresAt },
  { prolong: checkpointKey(sessionId, seq), expiresAt },
];

const alsoPuts = (also: Parameters<Methods['moveRehydrate']>[2]): ConditionalPut[] => {
  if (also === undefined) return [];
  return ['session' in also ? movePut(also) : { item: copyItem(also.copy), condition: isNew }];
};

export const createJournalMethods = (table: Table): Methods => {
  const writeRollback = async (
    journal: RollbackJournal,
    condition: typeof isNew,
    move: TimelineMove,
    kept?: KeptCheckpoint,
  ) => {
    const item = rollbackItem(journal);
    const also = kept === undefined ? [] : keptWrites(kept);
    const outcome = await transactSession(table, [{ item, condition }, movePut(move), ...also]);
    return outcomeFor(outcome, item.sk, readRollback);
  };

  return {
    getRollback: async (sessionId, requestId) => {
      const item = await table.get(rollbackKey(sessionId, requestId));
      return item === undefined ? undefined : readRollback(item);
    },
    beginRollback: (journal, move) => writeRollback(journal, isNew, move),
    moveRollback: (journal, move, kept) => writeRollback(journal, isOpen, move, kept),

    getRehydrate: async (sessionId, requestId) => {
      const item = await table.get(rehydrateKey(sessionId, requestId));
      return item === undefined ? undefined : readRehydrate(item);
    },

    createRehydrate: async (journal, move) => {
      const item = rehydrateItem(journal);
      const write = { item, condition: isNew };
      const writes = move === undefined ? [write] : [write, movePut(move)];
      return outcomeFor(await transactSession(table, writes), item.sk, readRehydrate);
    },

    moveRehydrate: async (journal, expectedAttempt, also) => {
      const item = rehydrateItem(journal);
      const write = { item, condition: and(isOpen, hasAttempt(expectedAttempt)) };
      return outcomeFor(await transactSession(table, [write, ...alsoPuts(also)]), item.sk, readRehydrate);
    },

    holdRehydrate: async ({ sessionId, requestId, attempt }, heldUntilMs) => {
      const held = and(isOpen, hasAttempt(attempt), isHeld);
      const command = new UpdateCommand({
        TableName: table.tableName,
        Key: { ...rehydrateKey(sessionId, requestId) },
        UpdateExpression: 'SET heldUntilMs = :heldUntilMs',
        ConditionExpression: held.expression,
        ExpressionAttributeNames: { ...held.names },
        ExpressionAttributeValues: { ...held.values, ':heldUntilMs': heldUntilMs },
      });
      try {
        await table.client.send(command);
      } catch (error) {
        // Taken over, ended, or let go.
        if (!isNamed(error, 'ConditionalCheckFailedException')) throw toWalkbackError('DynamoDB', error);
      }
    },
  };
};

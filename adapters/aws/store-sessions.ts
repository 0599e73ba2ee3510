/** Session and review copy: the items that move, fenced by their version. */
import { ScanCommand } from '@aws-sdk/lib-dynamodb';
import type { ReviewCopy, Session } from '../../core/checkpoint/model.ts';
import { WalkbackError } from '../../core/errors.ts';
import type { SessionStore, WriteOutcome } from '../../core/ports.ts';
import { hasVersion, isNew } from './conditions.ts';
import { calling } from './errors.ts';
import { checkpointItem, copyItem, fromItem, sessionItem, toolItem } from './session-items.ts';
import { copyKey, sessionKey } from './session-keys.ts';
import type { PutOutcome, SessionsTable } from './sessions-table.ts';

type Methods = Pick<
  SessionStore,
  'getSession' | 'createSession' | 'updateSession' | 'listSessions' | 'getCopy' | 'updateCopy'
>;

/** The item of this key among those that refused a write. */
export const outcomeFor = <T>(outcome: PutOutcome, sk: string): WriteOutcome<T> => {
  if (outcome.written) return outcome;
  const item = outcome.existing.find((one) => one.sk === sk);
  return { written: false, existing: item === undefined ? undefined : fromItem<T>(item) };
};

const fromCursor = (cursor: string): Record<string, unknown> => {
  const match = /^after-(.{1,128})$/.exec(cursor);
  if (match?.[1] === undefined) {
    throw new WalkbackError('InvalidInput', 'cursor: must be the cursor of an earlier answer, unchanged.');
  }
  return { ...sessionKey(match[1]) };
};

export const createSessionMethods = (table: SessionsTable): Methods => ({
  getSession: async (sessionId) => {
    const item = await table.get(sessionKey(sessionId));
    return item === undefined ? undefined : fromItem<Session>(item);
  },

  createSession: async (session, baseline) => {
    const outcome = await table.transact([
      { item: sessionItem(session), condition: isNew },
      { item: checkpointItem(baseline), condition: isNew },
      { item: toolItem(baseline), condition: isNew },
    ]);
    return outcomeFor<Session>(outcome, 'META');
  },

  updateSession: async (session, expectedVersion) => {
    const outcome = await table.put({ item: sessionItem(session), condition: hasVersion(expectedVersion) });
    return outcomeFor<Session>(outcome, 'META');
  },

  // A scan: sessions of one account are few beside their checkpoints' use, and this is asked by people only.
  listSessions: async (limit, cursor) => {
    const sessions: Session[] = [];
    let from = cursor === undefined ? undefined : fromCursor(cursor);
    do {
      const command = new ScanCommand({
        TableName: table.tableName,
        FilterExpression: 'sk = :meta AND begins_with(pk, :session)',
        ExpressionAttributeValues: { ':meta': 'META', ':session': 'SESSION#' },
        ...(from && { ExclusiveStartKey: from }),
      });
      const page = await calling('DynamoDB', () => table.client.send(command));
      sessions.push(...(page.Items ?? []).map((item) => fromItem<Session>(item)));
      from = page.LastEvaluatedKey;
    } while (from !== undefined && sessions.length < limit);
    const shown = sessions.slice(0, limit);
    const last = shown.at(-1);
    const hasMore = last !== undefined && (sessions.length > limit || from !== undefined);
    return { sessions: shown, ...(hasMore && { cursor: `after-${last.sessionId}` }) };
  },

  getCopy: async (sessionId, sandboxId) => {
    const item = await table.get(copyKey(sessionId, sandboxId));
    return item === undefined ? undefined : fromItem<ReviewCopy>(item);
  },

  updateCopy: async (copy, expectedVersion) => {
    const outcome = await table.put({ item: copyItem(copy), condition: hasVersion(expectedVersion) });
    return outcomeFor<ReviewCopy>(outcome, copyKey(copy.sessionId, copy.sandboxId).sk);
  },
});

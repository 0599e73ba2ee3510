/** Session and review copy: the items that move, fenced by their version. */
import { ScanCommand } from '@aws-sdk/lib-dynamodb';
import * as z from 'zod';
import type { Session } from '../../../core/checkpoint/model.ts';
import type { SessionStore, WriteOutcome } from '../../../core/checkpoint/ports/stores.ts';
import { createPage } from '../../../core/shared/answer-size.ts';
import { WalkbackError } from '../../../core/shared/errors.ts';
import { hasVersion, isNew } from '../conditions.ts';
import { calling } from '../errors.ts';
import { checkFormat, SESSION_FORMAT } from '../item-format.ts';
import type { Table } from '../table.ts';
import { type ConditionalPut, type PutOutcome, transact } from '../table-writes.ts';
import { checkpointItem, copyItem, sessionItem, toolItem } from './session-items.ts';
import { copyKey, sessionKey } from './session-keys.ts';
import { readCopy, readSession } from './stored-items.ts';

type Methods = Pick<
  SessionStore,
  'getSession' | 'createSession' | 'updateSession' | 'listSessions' | 'getCopy' | 'updateCopy'
>;

/** The item of this key among those that refused a write. */
export const outcomeFor = <T>(
  outcome: PutOutcome,
  sk: string,
  read: (item: Record<string, unknown>) => T,
): WriteOutcome<T> => {
  if (outcome.written) return outcome;
  const item = outcome.existing.find((one) => one.sk === sk);
  return { written: false, existing: item === undefined ? undefined : read(item) };
};

/** All or none. */
export const transactSession = (
  { client, tableName }: Table,
  writes: readonly ConditionalPut[],
): Promise<PutOutcome> =>
  transact(
    client,
    writes.map((write) => ({ tableName, ...write })),
    { busy: 'The session is being written by others. Call again.', withExisting: true },
  );

const keySchema = z.object({ pk: z.string(), sk: z.string() });

/** Where a scan goes on. `after-<session>` is how cursors looked before; a page may also end at another item. */
const fromCursor = (cursor: string): Record<string, unknown> => {
  const [, kind, rest = ''] = /^(after|at)-(.{1,512})$/.exec(cursor) ?? [];
  if (kind === 'after') return { ...sessionKey(rest) };
  try {
    return keySchema.parse(JSON.parse(Buffer.from(rest, 'base64url').toString()));
  } catch (cause) {
    const message = 'cursor: must be the cursor of an earlier answer, unchanged.';
    throw new WalkbackError('InvalidInput', message, { cause });
  }
};

const toCursor = ({ pk, sk }: { pk?: unknown; sk?: unknown }): string =>
  `at-${Buffer.from(JSON.stringify({ pk, sk })).toString('base64url')}`;

/** Megabytes of the table that one call looks through: a few seconds at most, however many checkpoints there are. */
const MAX_SCANNED_PAGES = 20;

export const createSessionMethods = (table: Table): Methods => ({
  getSession: async (sessionId) => {
    const item = await table.get(sessionKey(sessionId));
    if (item === undefined) return undefined;
    checkFormat(item, SESSION_FORMAT);
    return readSession(item);
  },

  createSession: async (session, baseline) => {
    const outcome = await transactSession(table, [
      { item: sessionItem(session), condition: isNew },
      { item: checkpointItem(baseline), condition: isNew },
      { item: toolItem(baseline), condition: isNew },
    ]);
    return outcomeFor(outcome, 'META', readSession);
  },

  updateSession: async (session, expectedVersion) => {
    const outcome = await table.put({ item: sessionItem(session), condition: hasVersion(expectedVersion) });
    return outcomeFor(outcome, 'META', readSession);
  },

  // A scan: sessions of one account are few beside their checkpoints' use, and this is asked by people only.
  listSessions: async (limit, cursor) => {
    const page = createPage<Session>(limit);
    let from = cursor === undefined ? undefined : fromCursor(cursor);
    for (let scanned = 0; scanned < MAX_SCANNED_PAGES; scanned++) {
      const command = new ScanCommand({
        TableName: table.tableName,
        FilterExpression: 'sk = :meta AND begins_with(pk, :session)',
        ExpressionAttributeValues: { ':meta': 'META', ':session': 'SESSION#' },
        ...(from && { ExclusiveStartKey: from }),
      });
      const { Items = [], LastEvaluatedKey } = await calling('DynamoDB', () => table.client.send(command));
      const left = Items.find((item) => !page.add(readSession(item)));
      const last = page.items.at(-1);
      if (left !== undefined && last !== undefined) {
        return { sessions: page.items, cursor: toCursor(sessionKey(last.sessionId)) };
      }
      if (LastEvaluatedKey === undefined) return { sessions: page.items };
      from = LastEvaluatedKey;
      if (page.isFull()) break;
    }
    return { sessions: page.items, ...(from && { cursor: toCursor(from) }) };
  },

  getCopy: async (sessionId, sandboxId) => {
    const item = await table.get(copyKey(sessionId, sandboxId));
    return item === undefined ? undefined : readCopy(item);
  },

  updateCopy: async (copy, expectedVersion) => {
    const outcome = await table.put({ item: copyItem(copy), condition: hasVersion(expectedVersion) });
    return outcomeFor(outcome, copyKey(copy.sessionId, copy.sandboxId).sk, readCopy);
  },
});

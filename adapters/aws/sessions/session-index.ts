/**
 * Sessions are found by an index that holds only sessions: no other item of the table has both `createdAt`
 * and `requestHash`. Both never change, so a checkpoint writes nothing to the index. The creation time is the
 * partition key, so many sessions that begin at once do not share a partition.
 */
import { ScanCommand } from '@aws-sdk/lib-dynamodb';
import * as z from 'zod';
import type { Session } from '../../../core/checkpoint/model.ts';
import type { SessionStore } from '../../../core/checkpoint/ports/stores.ts';
import { createPage } from '../../../core/shared/answer-size.ts';
import { badCursor, sealed } from '../../../core/shared/cursor.ts';
import { calling } from '../errors.ts';
import type { Table } from '../table.ts';
import { readSession } from './stored-items.ts';

const INDEX = 'gsi_session';

/** Most reads of the index in one call, so that the call ends, whatever was deleted meanwhile. */
const MAX_LOOKS = 20;
/** Sessions read at once. Each may have 400 KB. */
const AT_ONCE = 50;

const part = z.string().min(1).max(1024);
const rowSchema = z.object({ createdAt: part, requestHash: part, pk: part, sk: part });
type Row = z.infer<typeof rowSchema>;

const SEAL = sealed('sessions');
const toCursor = (row: Row): string => SEAL.write(row);

const fromCursor = (cursor: string): Row => {
  const { success, data } = rowSchema.safeParse(SEAL.read(cursor));
  if (!success) throw badCursor();
  return data;
};

export const createListSessions = (table: Table): SessionStore['listSessions'] => {
  const look = async (limit: number, from: Row | undefined) => {
    const command = new ScanCommand({
      TableName: table.tableName,
      IndexName: INDEX,
      Limit: limit,
      ...(from && { ExclusiveStartKey: from }),
    });
    const { Items = [], LastEvaluatedKey } = await calling('DynamoDB', () => table.client.send(command));
    return { rows: z.array(rowSchema).parse(Items), next: rowSchema.optional().parse(LastEvaluatedKey) };
  };

  return async (limit, cursor) => {
    const page = createPage<Session>(limit);
    let from = cursor === undefined ? undefined : fromCursor(cursor);
    for (let looked = 0; looked < MAX_LOOKS && !page.isFull(); looked += 1) {
      const { rows, next } = await look(Math.min(page.room(), AT_ONCE), from);
      const sessionAt = await table.getAll(rows.map(({ pk, sk }) => ({ pk, sk })));
      for (const row of rows) {
        // The session may be gone since.
        const item = sessionAt(row);
        if (item !== undefined && !page.add(readSession(item)) && from !== undefined) {
          return { sessions: page.items, cursor: toCursor(from) };
        }
        from = row;
      }
      if (next === undefined) return { sessions: page.items };
      from = next;
    }
    return { sessions: page.items, ...(from && { cursor: toCursor(from) }) };
  };
};

/** Stores how calls stand and what they answered: in the Sessions table, in partitions of its own. */
import { gunzipSync, gzipSync } from 'node:zlib';
import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import * as z from 'zod';
import { HOUR_SECONDS } from '../../contract/times.ts';
import type { KeptCall, KeptCalls } from '../../core/checkpoint/workspace/join-call.ts';
import { sha256Hex } from '../../core/shared/ids.ts';
import { and, type Condition, isNew } from './conditions.ts';
import { documentClient } from './document-client.ts';
import { createTable } from './table.ts';
import type { Item } from './table-reads.ts';
import { transact } from './table-writes.ts';

const BUSY = { busy: 'The call is being written by others. Call again.' };
/** An item may have 400 KB. */
const PART_BYTES = 300_000;

const callItem = z.object({
  claim: z.string(),
  hash: z.string(),
  untilMs: z.number(),
  state: z.enum(['running', 'answered', 'refused', 'over']),
  error: z.object({ name: z.string(), message: z.string() }).optional(),
  parts: z.number().optional(),
});

const partItem = z.object({ bytes: z.instanceof(Uint8Array) });

/** The sort key is not `META`: that marks a session. */
const callKey = (key: string) => ({ pk: `CALL#${sha256Hex(key)}`, sk: 'CALL' });
const partKey = (key: string, claim: string, part: number) => ({
  pk: callKey(key).pk,
  sk: `PART#${claim}#${part}`,
});

const is = (claim: string, state: KeptCall['state']): Condition => ({
  expression: '#claim = :claim AND #state = :state',
  names: { '#claim': 'claim', '#state': 'state' },
  values: { ':claim': claim, ':state': state },
});

/** The item is still as it was read. A later sign of life makes it another one. */
const isStill = ({ claim, state, untilMs }: KeptCall): Condition =>
  and(is(claim, state), {
    expression: '#untilMs = :untilMs',
    names: { '#untilMs': 'untilMs' },
    values: { ':untilMs': untilMs },
  });

const partsOf = (answer: unknown): Uint8Array[] => {
  const bytes = gzipSync(JSON.stringify(answer));
  return Array.from({ length: Math.ceil(bytes.length / PART_BYTES) }, (_, part) =>
    bytes.subarray(part * PART_BYTES, (part + 1) * PART_BYTES),
  );
};

export const createKeptCalls = (options: { tableName: string; client?: DynamoDBClient }): KeptCalls => {
  const table = createTable(documentClient(options.client), options.tableName);
  // After this time, the table deletes the item at some point.
  const expiresAt = ({ untilMs }: KeptCall): number => Math.ceil(untilMs / 1000) + HOUR_SECONDS;

  const read = async (key: string) => {
    const item = callItem.safeParse(await table.get(callKey(key)));
    return item.success ? item.data : undefined;
  };

  const write = async (item: Item, condition: Condition): Promise<boolean> =>
    (await transact(table.client, [{ tableName: table.tableName, item, condition }], BUSY)).written;

  return {
    get: read,
    answerOf: async (key, { claim }) => {
      const call = await read(key);
      if (call?.claim !== claim || call.parts === undefined) return undefined;
      const found = await Promise.all(
        Array.from({ length: call.parts }, (_, part) => table.get(partKey(key, claim, part))),
      );
      const parts = found.map((item) => partItem.safeParse(item).data?.bytes);
      if (parts.includes(undefined)) return undefined;
      const answer: unknown = JSON.parse(
        gunzipSync(Buffer.concat(parts.filter((part) => part !== undefined))).toString(),
      );
      return answer;
    },
    begin: async (key, call, before) => {
      const condition = before === undefined ? isNew : isStill(before);
      return write({ ...callKey(key), ...call, expiresAt: expiresAt(call) }, condition);
    },
    move: async (key, call, answer) => {
      const parts = answer === undefined ? [] : partsOf(answer);
      for (const [part, bytes] of parts.entries()) {
        await table.put({ ...partKey(key, call.claim, part), bytes, expiresAt: expiresAt(call) });
      }
      const item = {
        ...callKey(key),
        ...call,
        ...(parts.length > 0 && { parts: parts.length }),
        expiresAt: expiresAt(call),
      };
      await write(item, is(call.claim, 'running'));
    },
  };
};

/**
 * Writes of a table: one item under a condition, several tables all or none, or many items that are each
 * repeated until stored. When a condition refuses a write, this is an outcome and no error. A write that the
 * SDK repeats because its answer was lost is still reported as written.
 *
 * Each write under a condition is a transaction, even of one item, but for `putIf`: only the token of a transaction tells such
 * a write from an equal one of another caller.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { ConditionalCheckFailedException, TransactionCanceledException } from '@aws-sdk/client-dynamodb';
import {
  BatchWriteCommand,
  DeleteCommand,
  type DynamoDBDocumentClient,
  PutCommand,
  TransactWriteCommand,
} from '@aws-sdk/lib-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import { WalkbackError } from '../../core/shared/errors.ts';
import { COLLISION, pauseMs, retrying, retryingErrors } from '../../core/shared/retry.ts';
import { type Condition, conditionInput } from './conditions.ts';
import { calling, isNamed, toWalkbackError } from './errors.ts';
import { lastingInput, prolongInput } from './lasting-item.ts';
import type { Item, Key, Stored } from './table-reads.ts';

const SERVICE = 'DynamoDB';
const MAX_BATCH = 25;
/** Items of one transaction. */
export const MAX_TRANSACTION = 100;
const MAX_LEFTOVERS = 50;

/** The write met another transaction, or there were too many writes. The same write may be tried again. */
const COLLIDED = ['TransactionConflict', 'ThrottlingError', 'ProvisionedThroughputExceeded'];

export interface ConditionalPut {
  item: Item;
  /** Absent: overwrites whatever is there. */
  condition?: Condition;
}

export interface Write extends ConditionalPut {
  tableName: string;
}

/** An item that is written once (lasting-item.ts). */
interface Lasting {
  tableName: string;
  lasting: Item;
}

/** An item that is to live longer. The transaction is refused when it is gone or lives longer already. */
interface Prolonged {
  tableName: string;
  prolong: Key;
  expiresAt: number;
}

/** The transaction is written only if the item of this key meets the condition. */
export interface Check {
  tableName: string;
  key: Key;
  check: Condition;
}

/** `existing`: the items that stood in the way. A transaction answers them only when asked to. */
export type PutOutcome = { written: true } | { written: false; existing: Stored[] };

const putInput = ({ tableName, item, condition }: Write, withExisting: boolean) => ({
  TableName: tableName,
  Item: item,
  ...conditionInput(condition),
  ...(condition && withExisting && { ReturnValuesOnConditionCheckFailure: 'ALL_OLD' as const }),
});

const transactItem = (one: Write | Lasting | Prolonged | Check, withExisting: boolean) => {
  if ('prolong' in one) return { Update: prolongInput(one.tableName, one.prolong, one.expiresAt) };
  if ('lasting' in one) return { Update: lastingInput(one.tableName, one.lasting) };
  if (!('check' in one)) return { Put: putInput(one, withExisting) };
  const { tableName, key, check } = one;
  return {
    ConditionCheck: {
      TableName: tableName,
      Key: { ...key },
      ...conditionInput(check),
      ConditionExpression: check.expression,
    },
  };
};

const cancelledBecause = (error: TransactionCanceledException, ...codes: string[]): boolean =>
  (error.CancellationReasons ?? []).some(({ Code }) => Code !== undefined && codes.includes(Code));

/**
 * DynamoDB would never accept this write: an item over 400 KB, or a text or key that it cannot store. The
 * error is about the whole request, or about one item of a transaction.
 */
export const isUnstorable = (error: unknown): error is WalkbackError => {
  if (!(error instanceof WalkbackError)) return false;
  const { cause } = error;
  return cause instanceof TransactionCanceledException
    ? cancelledBecause(cause, 'ValidationError')
    : isNamed(cause, 'ValidationException', 'SerializationException');
};

const standing = (error: TransactionCanceledException): Stored[] =>
  // The document client converts results, but not the items that an error carries.
  (error.CancellationReasons ?? []).flatMap(({ Item: item }) =>
    item === undefined ? [] : [unmarshall(item)],
  );

/** Repeats a write of one item that collides with a transaction. The SDK does not repeat such a write. */
const pastTransactions = <T>(work: () => Promise<T>): Promise<T> =>
  retryingErrors(COLLISION, { sleep }, (error) => isNamed(error, 'TransactionConflictException'), work);

/**
 * Writes all or none. A transaction that only collided with another is repeated; `busy` is thrown when that
 * does not end. Retries of the SDK carry the same token, so they are one transaction to the service.
 */
export const transact = async (
  client: DynamoDBDocumentClient,
  writes: readonly (Write | Lasting | Prolonged | Check)[],
  { busy, withExisting = false }: { busy: string; withExisting?: boolean },
): Promise<PutOutcome> => {
  const command = () =>
    new TransactWriteCommand({ TransactItems: writes.map((one) => transactItem(one, withExisting)) });
  let collision: unknown;
  const tryIt = async (): Promise<PutOutcome | undefined> => {
    try {
      await client.send(command());
      return { written: true };
    } catch (error) {
      if (!(error instanceof TransactionCanceledException)) throw toWalkbackError(SERVICE, error);
      if (cancelledBecause(error, 'ConditionalCheckFailed'))
        return { written: false, existing: standing(error) };
      if (!cancelledBecause(error, ...COLLIDED)) throw toWalkbackError(SERVICE, error);
      collision = error;
      return undefined;
    }
  };
  const done = await retrying(COLLISION, { sleep }, tryIt);
  if (done !== undefined) return done;
  throw new WalkbackError('Throttled', busy, { cause: collision, retryable: true });
};

export const tableWrites = (client: DynamoDBDocumentClient, tableName: string) => {
  /** Overwrites whatever is there. */
  const put = async (item: Item): Promise<void> => {
    const command = new PutCommand({ TableName: tableName, Item: item });
    await calling(SERVICE, () => pastTransactions(() => client.send(command)));
  };

  /**
   * One item, at half the price of a transaction. False: the condition refused it. So it answers also when the SDK repeats a write
   * whose answer was lost: for callers that look again then, and find their own write.
   */
  const putIf = async (item: Item, condition: Condition): Promise<boolean> => {
    const command = new PutCommand({ TableName: tableName, Item: item, ...conditionInput(condition) });
    try {
      await pastTransactions(() => client.send(command));
      return true;
    } catch (error) {
      if (error instanceof ConditionalCheckFailedException) return false;
      throw toWalkbackError(SERVICE, error);
    }
  };

  /** Unconditional puts, each idempotent. What the service left over is sent again. */
  const putAll = async (items: readonly Stored[]): Promise<void> => {
    let left = items;
    for (let attempt = 0; left.length > 0; attempt++) {
      const requests = left.slice(0, MAX_BATCH).map((one) => ({ PutRequest: { Item: one } }));
      const command = new BatchWriteCommand({ RequestItems: { [tableName]: requests } });
      const answer = await calling(SERVICE, () => client.send(command));
      const over = (answer.UnprocessedItems?.[tableName] ?? []).flatMap(
        ({ PutRequest }) => PutRequest?.Item ?? [],
      );
      if (over.length > 0) {
        if (attempt >= MAX_LEFTOVERS) {
          throw new WalkbackError('Throttled', 'DynamoDB does not take all items. Call again.', {
            retryable: true,
          });
        }
        await sleep(pauseMs(COLLISION, attempt, Math.random));
      }
      left = [...over, ...left.slice(MAX_BATCH)];
    }
  };

  /** With a condition, an item that has changed since stays. */
  const remove = async (key: Key, condition?: Condition): Promise<void> => {
    const command = new DeleteCommand({
      TableName: tableName,
      Key: { ...key },
      ...conditionInput(condition),
    });
    try {
      await pastTransactions(() => client.send(command));
    } catch (error) {
      if (!(error instanceof ConditionalCheckFailedException)) throw toWalkbackError(SERVICE, error);
    }
  };

  return { put, putIf, putAll, remove };
};

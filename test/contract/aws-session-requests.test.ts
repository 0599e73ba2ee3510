/** The requests the store of sessions makes, and the answers only a broken DynamoDB gives. */
import { TransactionCanceledException } from '@aws-sdk/client-dynamodb';
import {
  DynamoDBDocumentClient,
  GetCommand,
  QueryCommand,
  TransactWriteCommand,
} from '@aws-sdk/lib-dynamodb';
import { mockClient } from 'aws-sdk-client-mock';
import { afterEach, describe, expect, test } from 'vitest';
import { failing } from '../support/fakes/failing.ts';
import { checkpointOf, sessionOf } from '../support/session-items.ts';
import { sessionStoreAt } from '../support/sessions-table.ts';

describe('what leaves, and what comes back', () => {
  const mocks: { restore(): unknown }[] = [];
  // Of every client of the process, which other files have clouds in.
  afterEach(() => {
    for (const mock of mocks.splice(0)) mock.restore();
  });

  const mocked = () => {
    const mock = mockClient(DynamoDBDocumentClient);
    mocks.push(mock);
    return { mock, store: sessionStoreAt('http://127.0.0.1:9') };
  };
  const cancelled = (...codes: string[]) =>
    new TransactionCanceledException({
      $metadata: { httpStatusCode: 400 },
      message: 'cancelled',
      CancellationReasons: codes.map((Code) => ({ Code })),
    });
  const serviceError = (name: string, httpStatusCode?: number) =>
    Object.assign(new Error(name), { name, $metadata: { httpStatusCode } });

  test('every read is consistent', async () => {
    const { mock, store } = mocked();
    mock.on(GetCommand).resolves({}).on(QueryCommand).resolves({});
    await store.getSession('s');
    await store.listLinks('s', 'c');
    for (const call of mock.calls()) expect(call.args[0].input).toMatchObject({ ConsistentRead: true });
  });

  test('the transaction of a checkpoint names its conditions', async () => {
    const { mock, store } = mocked();
    mock.on(TransactWriteCommand).resolves({});
    await store.commitCheckpoint({
      session: sessionOf('s'),
      expectedVersion: 7,
      checkpoint: checkpointOf('s', 2),
    });
    const input = mock.commandCalls(TransactWriteCommand)[0]?.args[0].input;
    const puts = input?.TransactItems?.map(({ Put }) => Put);
    expect(puts?.map((put) => [put?.Item?.sk, put?.ConditionExpression])).toEqual([
      ['META', '#version = :expectedVersion'],
      ['CP#00000002', 'attribute_not_exists(pk)'],
      ['TOOL#t2', 'attribute_not_exists(pk)'],
    ]);
    expect(puts?.every((put) => put?.ReturnValuesOnConditionCheckFailure === 'ALL_OLD')).toBe(true);
    // An index key must not be null: a checkpoint without message has no such attribute.
    expect(puts?.[1]?.Item).not.toHaveProperty('messageId');
  });

  test('a transaction that only collided is tried again', async () => {
    const { mock, store } = mocked();
    mock.on(TransactWriteCommand).rejectsOnce(cancelled('TransactionConflict', 'None')).resolves({});
    const write = { session: sessionOf('s'), expectedVersion: 1, checkpoint: checkpointOf('s', 2) };
    expect(await store.commitCheckpoint(write)).toEqual({ written: true });
    expect(mock.commandCalls(TransactWriteCommand)).toHaveLength(2);
  });

  test.each([
    ['ProvisionedThroughputExceededException', 400, 'Throttled', true],
    ['ThrottlingException', 400, 'Throttled', true],
    ['InternalServerError', 500, 'StorageUnavailable', true],
    ['TimeoutError', undefined, 'StorageUnavailable', true],
    ['ResourceNotFoundException', 400, 'ConfigurationError', false],
    ['AccessDeniedException', 400, 'ConfigurationError', false],
    ['ValidationException', 400, 'InternalError', false],
  ] as const)('%s is %s %s', async (name, status, expected, retryable) => {
    const { mock, store } = mocked();
    mock.onAnyCommand().rejects(serviceError(name, status));
    const error = await failing(store.getSession('s'), expected);
    expect(error.retryable).toBe(retryable);
    expect(error.cause).toBeInstanceOf(Error);
  });
});

/**
 * Tables, buckets and Step Functions that throttle, over the wire and with the clients as they are deployed: what was to be
 * done is done, once.
 */
import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { CreateBucketCommand, S3Client } from '@aws-sdk/client-s3';
import { SFNClient } from '@aws-sdk/client-sfn';
import { afterEach, describe, expect } from 'vitest';
import { createBundleStore } from '../../adapters/aws/bundles.ts';
import { BULK_DEFAULTS, CLIENT_DEFAULTS } from '../../adapters/aws/client-defaults.ts';
import { createSagaEngine } from '../../adapters/aws/sagas/saga-engine.ts';
import { createSagaStore } from '../../adapters/aws/sagas/saga-store.ts';
import { createEvaluator } from '../../adapters/jsonata/evaluator.ts';
import type { ToolRequest } from '../../contract/tool-request.ts';
import { fold } from '../../core/saga/decide/fold.ts';
import { findChainBreak } from '../../core/saga/entries/hash-chain.ts';
import type { SagaStore } from '../../core/saga/ports.ts';
import { sha256Hex } from '../../core/shared/ids.ts';
import { sagaMachine } from '../../kit/testing/saga-machine.ts';
import { virtualClock } from '../../kit/testing/virtual-clock.ts';
import { listenApp } from '../../local/listen.ts';
import { startS3 } from '../../local/s3/server.ts';
import { createStepFunctionsApi } from '../../local/stepfunctions/api.ts';
import { createExecutions } from '../../local/stepfunctions/executions.ts';
import { failing } from '../support/fakes/failing.ts';
import type { FaultAction } from '../support/fault-actions.ts';
import { type Fault, type FaultProxy, startFaultProxy } from '../support/fault-proxy.ts';
import { SAGA_TABLES_CREDENTIALS as credentials, openSagaTables } from '../support/saga-tables.ts';
import { inTurn } from '../support/sampled-test.ts';
import { committed, scriptedTool } from '../support/scripted-saga.ts';
import { shared } from '../support/shared.ts';

const test = inTurn('saga-throttled-services');

const region = 'us-east-1';

const cleanup: (() => Promise<unknown> | void)[] = [];
afterEach(async () => {
  for (const close of cleanup.splice(0).toReversed()) await close();
});

const refusal = (body: object): FaultAction => ({
  kind: 'status',
  status: 400,
  headers: { 'content-type': 'application/x-amz-json-1.0' },
  body: JSON.stringify(body),
});
const named = (name: string): FaultAction =>
  refusal({ __type: `com.amazonaws.dynamodb.v20120810#${name}`, message: 'Rate exceeded' });
/** Of a transaction, for what happened to one of its items. */
const cancelled = (code: string): FaultAction =>
  refusal({
    __type: 'com.amazonaws.dynamodb.v20120810#TransactionCanceledException',
    message: 'Transaction cancelled',
    CancellationReasons: [{ Code: 'None' }, { Code: code, Message: 'Rate exceeded' }],
  });
const REWIND = {
  sessionId: 'chat',
  requestId: 'back',
  requestHash: 'a'.repeat(64),
  checkpointId: 'c1',
  epoch: 1,
  by: 'ada',
  at: '2026-01-01T00:00:00.000Z',
};
/** The first requests of an operation, from the nth on. */
const refusing = (operation: string, action: FaultAction, times: number, from = 1): Fault[] =>
  Array.from({ length: times }, (_, n) => ({ match: { operation }, at: from + n, action }));

describe('tables', () => {
  const opened = shared(openSagaTables);

  const through = async (): Promise<{ proxy: FaultProxy; store: SagaStore }> => {
    const proxy = await startFaultProxy({ target: opened().url });
    cleanup.push(() => proxy.close());
    const client = new DynamoDBClient({ region, endpoint: proxy.url, credentials, ...CLIENT_DEFAULTS });
    cleanup.push(() => client.destroy());
    return { proxy, store: createSagaStore({ ...opened().tables, client }) };
  };

  /** Two sagas of one project that runs one at a time, on one resource: its slot, its lock and both heads are hot. */
  const runTwo = async (store: SagaStore, proxy: FaultProxy, name: string, plan: Fault[]) => {
    const retry = { maxAttempts: 1, backoffSeconds: 0, backoffRate: 1, maxBackoffSeconds: 0 };
    for (const tool of ['take', 'keep']) {
      const lock = tool === 'take' ? { exclusive: true, resourceKey: `'${name}'` } : {};
      await store.putTool(scriptedTool(tool, 'compensatable', { retry, ...lock }));
    }
    const requests: ToolRequest[] = [];
    const machine = sagaMachine({
      store,
      clock: virtualClock(),
      evaluate: createEvaluator(),
      invoke: async (_, request) => {
        requests.push(request);
        return committed();
      },
    });
    proxy.setPlan(plan);
    const sagas = [`${name}-1`, `${name}-2`];
    for (const sagaId of sagas) {
      await machine.start({
        sagaId,
        plan: { steps: ['take', 'keep'].map((tool) => ({ id: tool, tool, arguments: {} })) },
        input: {},
        requestedBy: 'me',
        project: name,
        maxConcurrent: 1,
      });
    }
    await machine.settle();
    for (const sagaId of sagas) {
      const [head, entries] = [await store.getHead(sagaId), await store.listEntries(sagaId)];
      if (head === undefined) throw new Error(`${sagaId} is gone`);
      expect(head.state.status, sagaId).toBe('COMPLETED');
      expect(fold(entries)).toEqual(head.state);
      expect(findChainBreak(entries, head)).toBeUndefined();
    }
    return requests;
  };
  const OPERATIONS = ['TransactWriteItems', 'GetItem', 'Query', 'DeleteItem'];

  test.each([
    ['ProvisionedThroughputExceededException', named('ProvisionedThroughputExceededException')],
    ['ThrottlingException', named('ThrottlingException')],
    ['RequestLimitExceeded', named('RequestLimitExceeded')],
  ])(
    '%s, of every operation: both sagas end, each call is made once, as its first attempt',
    async (name, action) => {
      const { proxy, store } = await through();
      const plan = OPERATIONS.flatMap((operation) =>
        refusing(operation, action, operation === 'TransactWriteItems' ? 3 : 1),
      );
      const requests = await runTwo(store, proxy, name, plan);
      const refused = proxy.seen.filter((one) => one.action !== undefined);
      expect(new Set(refused.map(({ operation }) => operation?.split('.').at(-1)))).toEqual(
        new Set(OPERATIONS),
      );
      expect(requests.map(({ sagaId, step, attempt }) => [sagaId, step, attempt])).toEqual(
        [`${name}-1`, `${name}-2`].flatMap((sagaId) => [
          [sagaId, 'take', 1],
          [sagaId, 'keep', 1],
        ]),
      );
    },
  );

  test.each(['TransactionConflict', 'ThrottlingError', 'ProvisionedThroughputExceeded'])(
    'a transaction that is cancelled for %s is written again, and writes once',
    async (code) => {
      const { proxy, store } = await through();
      // Each of the first transactions three times: that many are never tried by the SDK itself.
      const plan = [1, 5, 9, 13].flatMap((from) => refusing('TransactWriteItems', cancelled(code), 3, from));
      const requests = await runTwo(store, proxy, code, plan);
      expect(proxy.seen.filter((one) => one.action !== undefined)).toHaveLength(plan.length);
      expect(requests.map(({ attempt }) => attempt)).toEqual([1, 1, 1, 1]);
    },
  );

  test('a write of one item that a transaction is writing meanwhile is tried again', async () => {
    const { proxy, store } = await through();
    const conflict = named('TransactionConflictException');
    proxy.setPlan(['PutItem', 'DeleteItem'].flatMap((operation) => refusing(operation, conflict, 3)));
    await store.finishRewind(REWIND);
    expect(await store.getRewind(REWIND.sessionId, REWIND.requestId)).toEqual(REWIND);
    await store.permits.leave({
      semaphore: 'lock:none',
      root: { sagaId: 'gone', startedAt: '2026-01-01T00:00:00.000Z' },
      sagaId: 'gone',
      seq: 1,
    });
    expect(proxy.count({ operation: 'PutItem' })).toBe(4);
    expect(proxy.count({ operation: 'DeleteItem' })).toBe(4);
  });

  test('a table that never has room is told as Throttled, and nothing is written', async () => {
    const { proxy, store } = await through();
    proxy.setPlan([
      { match: { operation: 'PutItem' }, action: named('ProvisionedThroughputExceededException') },
    ]);
    const put = store.finishRewind({ ...REWIND, requestId: 'full' });
    expect(await failing(put, 'Throttled')).toMatchObject({ retryable: true });
    expect(proxy.count({ operation: 'PutItem' })).toBe(CLIENT_DEFAULTS.maxAttempts);
    expect(await store.getRewind(REWIND.sessionId, 'full')).toBeUndefined();
  });
});

describe('Step Functions', () => {
  const MACHINE = 'arn:aws:states:us-east-1:000000000000:stateMachine:m';
  const DEFINITION = {
    StartAt: 'Await',
    States: {
      Await: {
        Type: 'Task',
        Resource: 'arn:aws:states:::lambda:invoke.waitForTaskToken',
        Parameters: { FunctionName: 'announce', Payload: { 'token.$': '$$.Task.Token' } },
        End: true,
      },
    },
  };

  const setUp = async () => {
    const announced = Promise.withResolvers<string>();
    const ended = Promise.withResolvers<string>();
    const executions = await createExecutions({
      machines: [{ stateMachineArn: MACHINE, definition: JSON.stringify(DEFINITION), substitutions: {} }],
      services: {
        invoke: async (_, payload) => {
          announced.resolve((payload as { token: string }).token);
          return { payload: {}, functionError: false };
        },
        publish: async () => ({ messageId: 'm' }),
      },
      onEnd: ({ status }) => ended.resolve(status),
    });
    cleanup.push(() => executions.close());
    const endpoint = await listenApp(createStepFunctionsApi(executions));
    cleanup.push(() => endpoint.close());
    const proxy = await startFaultProxy({ target: endpoint.url });
    cleanup.push(() => proxy.close());
    const client = new SFNClient({ region, endpoint: proxy.url, credentials, ...CLIENT_DEFAULTS });
    cleanup.push(() => client.destroy());
    const engine = createSagaEngine({ stateMachineArn: MACHINE, client });
    return { engine, executions, proxy, announced: announced.promise, ended: ended.promise };
  };
  const throttled = refusal({ __type: 'ThrottlingException', message: 'Rate exceeded' });

  test('ThrottlingException of each operation: one execution runs, is seen, and is woken', async () => {
    const { engine, executions, proxy, announced, ended } = await setUp();
    proxy.setPlan(
      ['StartExecution', 'DescribeExecution', 'SendTaskSuccess'].flatMap((operation) =>
        refusing(operation, throttled, 2),
      ),
    );
    expect(await engine.start('one', 1)).toBe('started');
    expect(await engine.look('one', 1)).toBe('running');
    expect(await engine.wake(await announced)).toBe(true);
    expect(await ended).toBe('SUCCEEDED');
    expect(proxy.seen.filter(({ action }) => action !== undefined)).toHaveLength(6);
    expect(executions.list()).toHaveLength(1);
  });

  test('ExecutionLimitExceeded is Throttled: the same start works when there is room, and starts one', async () => {
    const { engine, executions, proxy } = await setUp();
    const full = refusal({ __type: 'ExecutionLimitExceeded', message: 'too many open executions' });
    proxy.setPlan(refusing('StartExecution', full, 1));
    expect(await failing(engine.start('one', 1), 'Throttled')).toMatchObject({ retryable: true });
    expect(executions.list()).toHaveLength(0);
    expect(await engine.start('one', 1)).toBe('started');
    expect(executions.list()).toHaveLength(1);
  });
});

test('a bucket that says SlowDown is asked again, and has the object once', async () => {
  const directory = await mkdtempDisposable(join(tmpdir(), 'walkback-slow-'));
  cleanup.push(() => directory[Symbol.asyncDispose]());
  const server = await startS3({ dataDir: directory.path, credentials, region });
  cleanup.push(() => server.close());
  const proxy = await startFaultProxy({ target: server.url });
  cleanup.push(() => proxy.close());
  const client = new S3Client({
    region,
    endpoint: proxy.url,
    credentials,
    forcePathStyle: true,
    ...BULK_DEFAULTS,
  });
  cleanup.push(() => client.destroy());
  await client.send(new CreateBucketCommand({ Bucket: 'bundles' }));
  const store = createBundleStore({ bucket: 'bundles', client });
  const slow: FaultAction = {
    kind: 'status',
    status: 503,
    headers: { 'content-type': 'application/xml' },
    body: '<?xml version="1.0"?><Error><Code>SlowDown</Code><Message>Please reduce your request rate.</Message></Error>',
  };
  const bytes = Buffer.from('bundle');
  const sha256 = sha256Hex(bytes);
  proxy.setPlan(
    ['PUT', 'GET'].flatMap((method) => [1, 2].map((at) => ({ match: { method }, at, action: slow }))),
  );
  await store.put('k', bytes, sha256);
  expect(Buffer.from(await store.get({ key: 'k', sizeBytes: bytes.length, sha256 }))).toEqual(bytes);
  proxy.setPlan([{ match: { method: 'PUT' }, action: slow }]);
  expect(await failing(store.put('other', bytes, sha256), 'Throttled')).toMatchObject({ retryable: true });
  expect(await store.head('other')).toBeUndefined();
});

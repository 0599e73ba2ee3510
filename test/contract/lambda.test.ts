import { utimes } from 'node:fs/promises';
import {
  GetFunctionConfigurationCommand,
  InvalidRequestContentException,
  InvokeCommand,
  type InvokeCommandInput,
  LambdaClient,
  RequestTooLargeException,
  ResourceNotFoundException,
  TooManyRequestsException,
} from '@aws-sdk/client-lambda';
import { mockClient } from 'aws-sdk-client-mock';
import { afterEach, expect, test } from 'vitest';
import { createToolFunctions } from '../../adapters/aws/sagas/tool-functions.ts';
import type { Log } from '../../core/shared/surroundings.ts';
import { createLambdaApi, MAX_ASYNCHRONOUS_BYTES } from '../../local/lambda/api.ts';
import { installEnvironment } from '../../local/lambda/environment.ts';
import { createFunctions, type LocalFunctions } from '../../local/lambda/functions.ts';
import { type Endpoint, listenApp } from '../../local/listen.ts';
import type { FunctionPlan } from '../../local/plan.ts';
import { obedient, ownDirectory } from '../support/own-functions.ts';

const credentials = { accessKeyId: 'LKIATEST', secretAccessKey: 'not a secret' };
const probe: FunctionPlan = {
  name: 'walkback-probe',
  arn: 'arn:aws:lambda:us-east-1:000000000000:function:walkback-probe',
  entry: 'test/support/functions/probe.ts',
  timeoutMs: 900_000,
  memoryMb: 1024,
  environment: {},
};
const plans: FunctionPlan[] = [
  probe,
  { ...probe, name: 'walkback-impatient', timeoutMs: 50 },
  { ...probe, name: 'walkback-broken', entry: 'test/support/functions/missing.ts' },
];

const disposal = { stack: new AsyncDisposableStack() };
afterEach(async () => {
  await disposal.stack.disposeAsync();
  disposal.stack = new AsyncDisposableStack();
});

const start = async (
  log: Partial<Log> = {},
  limits: Parameters<typeof createFunctions>[1] = {},
): Promise<{ endpoint: Endpoint; functions: LocalFunctions }> => {
  const functions = createFunctions(plans, limits);
  disposal.stack.defer(() => functions.close());
  const silent: Log = { info: () => undefined, warn: () => undefined };
  const app = createLambdaApi({ functions, credentials, log: { ...silent, ...log } });
  const endpoint = await listenApp(app);
  disposal.stack.defer(() => endpoint.close());
  return { endpoint, functions };
};

const connect = (endpoint: Endpoint, overrides = {}): LambdaClient => {
  const client = new LambdaClient({
    endpoint: endpoint.url,
    region: 'us-east-1',
    credentials,
    maxAttempts: 1,
    ...overrides,
  });
  disposal.stack.defer(() => client.destroy());
  return client;
};

const invoke = async (client: LambdaClient, event: unknown, more: Partial<InvokeCommandInput> = {}) => {
  const answer = await client.send(
    new InvokeCommand({ FunctionName: 'walkback-probe', Payload: JSON.stringify(event), ...more }),
  );
  const text = answer.Payload?.transformToString() ?? '';
  return { ...answer, body: text === '' ? undefined : (JSON.parse(text) as Record<string, unknown>) };
};

test('a handler gets its event and a context, and its answer comes back', async () => {
  const { endpoint } = await start();
  const answer = await invoke(connect(endpoint), { name: 'zoë' });
  expect(answer).toMatchObject({ StatusCode: 200, ExecutedVersion: '$LATEST' });
  expect(answer.FunctionError).toBeUndefined();
  expect(answer.body).toMatchObject({
    event: { name: 'zoë' },
    functionName: 'walkback-probe',
    arn: probe.arn,
    requestId: answer.$metadata.requestId,
  });
  expect(answer.body?.['remainingMs']).toBeGreaterThan(0);
  expect(answer.body?.['remainingMs']).toBeLessThanOrEqual(probe.timeoutMs);
});

test.each([
  'walkback-probe',
  'walkback-probe:$LATEST',
  probe.arn,
  `${probe.arn}:live`,
  '000000000000:function:walkback-probe',
])('a function is found as %s', async (FunctionName) => {
  const { endpoint } = await start();
  const answer = await invoke(connect(endpoint), {}, { FunctionName });
  expect(answer.body).toMatchObject({ functionName: 'walkback-probe' });
});

test('an error is a payload with its literal name, its message, and no stack', async () => {
  const { endpoint } = await start();
  const client = connect(endpoint);
  const thrown = await invoke(client, { do: 'throw' });
  expect(thrown).toMatchObject({ StatusCode: 200, FunctionError: 'Unhandled' });
  expect(thrown.body).toEqual({
    errorType: 'Refused',
    errorMessage: 'the message says what to do',
    trace: [],
  });
  const text = await invoke(client, { do: 'throw-text' });
  expect(text.body).toEqual({ errorType: 'UnknownError', errorMessage: 'just text', trace: [] });
});

test('a function that takes longer than its timeout is reported as timed out', async () => {
  const { endpoint } = await start();
  const answer = await invoke(connect(endpoint), { do: 'wait' }, { FunctionName: 'walkback-impatient' });
  expect(answer).toMatchObject({ FunctionError: 'Unhandled', body: { errorType: 'Sandbox.Timedout' } });
});

test('a function without an answer answers null', async () => {
  const { endpoint } = await start();
  expect((await invoke(connect(endpoint), { do: 'nothing' })).body).toBeNull();
});

test('a module that cannot be loaded is a function error, not a dead endpoint', async () => {
  const { endpoint } = await start();
  const client = connect(endpoint);
  const broken = await invoke(client, {}, { FunctionName: 'walkback-broken' });
  expect(broken.FunctionError).toBe('Unhandled');
  expect((await invoke(client, {})).FunctionError).toBeUndefined();
});

test('a warm instance is used again; a cold start reads the environment again', async () => {
  const environment = installEnvironment({ PROBE_LABEL: 'one' });
  disposal.stack.defer(() => environment.remove());
  const { endpoint, functions } = await start();
  const client = connect(endpoint);
  await invoke(client, {});
  expect((await invoke(client, {})).body).toMatchObject({ invocations: 2, environment: { label: 'one' } });
  environment.set({ PROBE_LABEL: 'two' });
  functions.coldStart();
  expect((await invoke(client, {})).body).toMatchObject({ invocations: 1, environment: { label: 'two' } });
});

test('one environment per process: a second one is refused, and removing gives back what was there', () => {
  const before = { ...process.env };
  const first = installEnvironment({ PROBE_LABEL: 'mine', AWS_REGION: 'nowhere-1' });
  expect(process.env['AWS_PROFILE']).toBeUndefined();
  expect(() => installEnvironment({})).toThrow(/another cloud/);
  first.remove();
  expect({ ...process.env }).toEqual(before);
  installEnvironment({}).remove();
});

test('limits: 6 MB in, 6 MB out, 1 MB for an event', async () => {
  const { endpoint } = await start();
  const client = connect(endpoint);
  const large = 'x'.repeat(6 * 1024 * 1024);
  await expect(invoke(client, { large })).rejects.toBeInstanceOf(RequestTooLargeException);
  const event = { large: 'x'.repeat(MAX_ASYNCHRONOUS_BYTES) };
  await expect(invoke(client, event, { InvocationType: 'Event' })).rejects.toBeInstanceOf(
    RequestTooLargeException,
  );
  expect((await invoke(client, event)).StatusCode).toBe(200);
  expect(await invoke(client, { do: 'large', bytes: 6_300_000 })).toMatchObject({
    FunctionError: 'Unhandled',
    body: { errorType: 'Function.ResponseSizeTooLarge' },
  });
});

test('an event is accepted at once and tried three times', async () => {
  const failures: unknown[] = [];
  const third = Promise.withResolvers<void>();
  const { endpoint, functions } = await start({
    warn: (_, facts) => {
      failures.push(facts?.['attempt']);
      if (failures.length === 3) third.resolve();
    },
  });
  const answer = await invoke(connect(endpoint), { do: 'throw' }, { InvocationType: 'Event' });
  expect(answer).toMatchObject({ StatusCode: 202 });
  await third.promise;
  await functions.idle();
  expect(failures).toEqual([1, 2, 3]);
});

test('a call for which there is no thread is refused, and an event waits until there is one', async () => {
  const { endpoint, functions } = await start({}, { most: 1 });
  const directory = disposal.stack.use(
    await ownDirectory({
      'busy.mjs': obedient('export const timeoutSeconds = 900;'),
      'late.mjs': obedient(),
    }),
  );
  await functions.add(directory.path);
  const client = connect(endpoint);
  const busy = invoke(client, { does: 'blocks', began: 'one' }, { FunctionName: 'busy' });
  await directory.made('one');
  for (const FunctionName of ['busy', 'late']) {
    const refused = invoke(client, { does: 'blocks', began: 'two' }, { FunctionName });
    await expect(refused).rejects.toBeInstanceOf(TooManyRequestsException);
  }
  const event = { does: 'blocks', began: 'three' };
  const answer = await invoke(client, event, { FunctionName: 'late', InvocationType: 'Event' });
  expect(answer).toMatchObject({ StatusCode: 202 });
  await directory.write('gate');
  expect(await busy).toMatchObject({ StatusCode: 200, body: { calls: 1 } });
  await directory.made('three');
  expect(directory.has('two')).toBe(false);
});

test('how a function is configured is seen by name, ARN or qualifier, and only with a signature', async () => {
  const { endpoint } = await start();
  const tools = createToolFunctions(connect(endpoint));
  for (const name of ['walkback-probe', probe.arn, `${probe.arn}:7`, 'walkback-probe:live']) {
    expect(await tools.look(name), name).toEqual({ state: 'there', timeoutSeconds: 900 });
  }
  expect(await tools.look('walkback-nobody')).toEqual({ state: 'missing' });
  const stranger = connect(endpoint, { credentials: { ...credentials, secretAccessKey: 'guess' } });
  await expect(createToolFunctions(stranger).look('walkback-probe')).rejects.toMatchObject({
    name: 'ConfigurationError',
  });
});

test('how an edited function of one’s own is configured is seen before its next call', async () => {
  const { endpoint, functions } = await start();
  const directory = disposal.stack.use(
    await ownDirectory({ 'mine.mjs': obedient('export const timeoutSeconds = 20;') }),
  );
  await functions.add(directory.path);
  const tools = createToolFunctions(connect(endpoint));
  expect(await tools.look('mine')).toEqual({ state: 'there', timeoutSeconds: 20 });
  await directory.write('mine.mjs', obedient('export const timeoutSeconds = 40;'));
  await utimes(directory.file('mine.mjs'), new Date(), new Date(Date.now() + 5_000));
  expect(await tools.look('mine')).toEqual({ state: 'there', timeoutSeconds: 40 });
});

test('a function that nobody gave the right to look at is hidden, whether it is there or not', async () => {
  const client = new LambdaClient({ region: 'us-east-1', credentials });
  using mock = Object.assign(mockClient(client), { [Symbol.dispose]: () => mock.restore() });
  const denied = Object.assign(new Error('not authorized'), { name: 'AccessDeniedException' });
  mock.on(GetFunctionConfigurationCommand).rejects(denied);
  expect(await createToolFunctions(client).look('theirs')).toEqual({ state: 'hidden' });
});

test('an unknown function, a payload that is not JSON', async () => {
  const { endpoint } = await start();
  const client = connect(endpoint);
  await expect(invoke(client, {}, { FunctionName: 'walkback-nobody' })).rejects.toBeInstanceOf(
    ResourceNotFoundException,
  );
  await expect(invoke(client, {}, { Payload: '{' })).rejects.toBeInstanceOf(InvalidRequestContentException);
});

test('a wrong key, a wrong secret, an old clock and no signature are refused', async () => {
  const { endpoint } = await start();
  const refused = (overrides: object) => invoke(connect(endpoint, overrides), {});
  const other = (more: object) => ({ credentials: { ...credentials, ...more } });
  await expect(refused(other({ accessKeyId: 'LKIAOTHER' }))).rejects.toMatchObject({
    name: 'UnrecognizedClientException',
  });
  await expect(refused(other({ secretAccessKey: 'guess' }))).rejects.toMatchObject({
    name: 'InvalidSignatureException',
  });
  await expect(refused({ systemClockOffset: -3_600_000 })).rejects.toMatchObject({
    name: 'InvalidSignatureException',
  });
  const bare = await fetch(`${endpoint.url}/2015-03-31/functions/walkback-probe/invocations`, {
    method: 'POST',
    body: '{}',
  });
  expect(bare.status).toBe(403);
  expect(bare.headers.get('x-amzn-errortype')).toBe('MissingAuthenticationTokenException');
});

test('a body that was changed on the way is refused', async () => {
  const { endpoint } = await start();
  const client = connect(endpoint);
  client.middlewareStack.add(
    (next) => (args) => {
      (args.request as { body: unknown }).body = '[]';
      return next(args);
    },
    { step: 'finalizeRequest', priority: 'low', name: 'tamper' },
  );
  await expect(invoke(client, {})).rejects.toMatchObject({ name: 'InvalidSignatureException' });
});

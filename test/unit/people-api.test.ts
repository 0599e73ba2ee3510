/** Edges of the HTTP API that need a function that is slow, too large, or broken. */
import { createServer, type Server } from 'node:http';
import { LambdaClient } from '@aws-sdk/client-lambda';
import { afterEach, describe, expect, test } from 'vitest';
import { createFunctionCalls } from '../../adapters/aws/function-calls.ts';
import { answerTooLarge, createApi } from '../../api/app.ts';
import { toAnswer, toRequest } from '../../api/gateway-event.ts';
import { ERROR_NAMES } from '../../contract/errors.ts';
import { httpStatusOf } from '../../contract/http-status.ts';
import { createPersonCalls } from '../../core/people/call-as.ts';

let server: Server | undefined;
afterEach(() => {
  server?.closeAllConnections();
  server?.close();
});

/** Over a Lambda service that answers so; null: never. */
const apiOver = async (
  answer: { headers?: Record<string, string>; status?: number; body: string } | null,
) => {
  const failed: unknown[] = [];
  const asked: string[] = [];
  const listening = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      asked.push(Buffer.concat(parts).toString());
      if (answer !== null) response.writeHead(answer.status ?? 200, answer.headers).end(answer.body);
    });
  });
  server = listening;
  await new Promise<void>((resolve) => listening.listen(0, '127.0.0.1', resolve));
  const address = listening.address();
  const endpoint = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`;
  const credentials = { accessKeyId: 'a', secretAccessKey: 'b' };
  const client = new LambdaClient({ region: 'us-east-1', endpoint, credentials, maxAttempts: 1 });
  const calls = createFunctionCalls({
    namePrefix: 'walkback',
    patienceMs: answer === null ? 100 : 30_000,
    client,
  });
  const person = { iss: 'https://id.example', sub: 'rita' };
  const verifier = { verify: async () => ({ person, roles: ['reviewer'] as const }) };
  const app = createApi({
    calls: createPersonCalls({ verifier, calls }),
    failed: (error) => failed.push(error),
  });
  const request = (
    name: string,
    body: string | Uint8Array<ArrayBuffer>,
    headers: Record<string, string> = {},
  ) =>
    app.request(`https://api.example/v1/${name}`, {
      method: 'POST',
      headers: { authorization: 'Bearer token', 'content-type': 'application/json', ...headers },
      body,
    });
  const post = (name: string, body: object, headers?: Record<string, string>) =>
    request(name, JSON.stringify(body), headers);
  return { app, request, post, failed, asked };
};

const errorOf = async (response: Response) => ((await response.json()) as { error: { name: string } }).error;

test.each([
  ['[', ']'],
  ['{"a":', '}'],
])(
  'a body that is nested too deeply to be passed on is refused, and nobody is alarmed: %s',
  async (open, close) => {
    const { request, failed, asked } = await apiOver({ body: '{}' });
    const deep = (levels: number) => `{"a":${open.repeat(levels)}0${close.repeat(levels)}}`;
    const response = await request('list-sessions', deep(100_000));
    expect(response.status).toBe(400);
    expect(await errorOf(response)).toMatchObject({
      name: 'InvalidInput',
      message: 'The body is nested deeper than 120 levels.',
    });
    expect([failed, asked]).toEqual([[], []]);
    // What a field may hold is the function's to say.
    expect((await request('list-sessions', deep(110))).status).toBe(200);
  },
);

test('a function that takes long is 202, with how long to wait, and the same request may be sent again', async () => {
  const { post } = await apiOver(null);
  const response = await post('rewind', { sagaId: 's', to: { steps: 1 }, requestId: 'r' });
  expect([response.status, response.headers.get('retry-after')]).toEqual([202, '2']);
  expect(await errorOf(response)).toMatchObject({
    name: 'StillRunning',
    retryable: true,
    message: expect.stringContaining('one without begins anew, so ask for less'),
  });
});

test('the token goes along as proof where the function takes one, and nowhere else', async () => {
  const { post, asked } = await apiOver({ body: '{}' });
  await post('answer', { sagaId: 's' });
  await post('list-sagas', { limit: 1 });
  expect(asked.map((text) => JSON.parse(text) as unknown)).toEqual([
    { sagaId: 's', proof: 'token' },
    { limit: 1 },
  ]);
});

test('a body that is not UTF-8 is refused, so that no other text goes into the ledger; a byte order mark is no harm', async () => {
  const { request, asked } = await apiOver({ body: '{}' });
  const refused = await request('answer', Buffer.from('{"sagaId":"s","note":"Büro"}', 'latin1'));
  expect(refused.status).toBe(400);
  expect(await errorOf(refused)).toMatchObject({ name: 'InvalidInput', message: 'The body is not UTF-8.' });
  expect(asked).toEqual([]);
  expect((await request('list-sagas', '\uFEFF{"limit":1}')).status).toBe(200);
  expect(asked.map((text) => JSON.parse(text) as unknown)).toEqual([{ limit: 1 }]);
});

test.each(['APPLICATION/JSON', 'application/json ; charset=utf-8', 'application/json\t;charset=utf-8'])(
  'a body of type %s is JSON',
  async (type) => {
    const { post } = await apiOver({ body: '{}' });
    expect((await post('list-sagas', {}, { 'content-type': type })).status).toBe(200);
  },
);

test('a body that is encoded is told to come as it is', async () => {
  const { post, asked } = await apiOver({ body: '{}' });
  expect((await post('list-sagas', {}, { 'content-encoding': 'identity' })).status).toBe(200);
  const refused = await post('list-sagas', {}, { 'content-encoding': 'gzip' });
  expect(refused.status).toBe(400);
  expect(await errorOf(refused)).toMatchObject({
    name: 'InvalidInput',
    message: expect.stringContaining('Content-Encoding') as string,
  });
  expect(asked).toHaveLength(1);
});

test.each(['GET', 'HEAD', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])(
  'a route is told that it takes no %s, and what it takes',
  async (method) => {
    const { app, failed, asked } = await apiOver({ body: '{}' });
    const answer = async (name: string) => app.request(`https://api.example/v1/${name}`, { method });
    const response = await answer('list-sagas');
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'POST']);
    if (method !== 'HEAD') expect(await errorOf(response)).toMatchObject({ name: 'MethodNotAllowed' });
    const nowhere = await answer('checkpoint');
    expect([nowhere.status, nowhere.headers.get('allow')]).toEqual([404, null]);
    expect([failed, asked]).toEqual([[], []]);
  },
);

describe('an error of the function never passes as an answer', () => {
  const failing = { 'x-amz-function-error': 'Unhandled' };
  test.each([
    [
      'its own, by its name',
      '{"errorType":"SagaNotFound","errorMessage":"no saga s"}',
      404,
      'SagaNotFound',
      0,
    ],
    ['a fault', '{"errorType":"StorageUnavailable","errorMessage":"x"}', 503, 'StorageUnavailable', 1],
    [
      'one of Lambda',
      '{"errorType":"Sandbox.Timedout","errorMessage":"Task timed out"}',
      502,
      'InternalError',
      1,
    ],
    [
      'too large',
      '{"errorType":"Function.ResponseSizeTooLarge","errorMessage":"x"}',
      413,
      'AnswerTooLarge',
      0,
    ],
    ['without a name', '{}', 502, 'InternalError', 1],
    ['no JSON', 'oops', 502, 'InternalError', 1],
  ])('%s', async (_, body, status, name, told) => {
    const { post, failed } = await apiOver({ headers: failing, body });
    const response = await post('describe-saga', { sagaId: 's' });
    const error = await errorOf(response);
    expect([response.status, error.name, failed.length]).toEqual([status, name, told]);
    expect(JSON.stringify(error)).not.toContain('Sandbox.Timedout');
  });

  test('the service is throttling', async () => {
    const headers = { 'x-amzn-errortype': 'TooManyRequestsException' };
    const { post } = await apiOver({ status: 429, headers, body: '{"message":"Rate exceeded"}' });
    const response = await post('list-sagas', {});
    expect([response.status, (await errorOf(response)).name]).toEqual([429, 'Throttled']);
  });
});

describe('events of the gateway', () => {
  const event = (more: object) => ({
    version: '2.0',
    rawPath: '/',
    rawQueryString: '',
    requestContext: { domainName: 'console.example', http: { method: 'GET' } },
    ...more,
  });

  test('a path that was decoded begins no query and no fragment', () => {
    const { url } = toRequest(event({ rawPath: '/sessions/a?b#c d/é', rawQueryString: 'x=%20' }));
    expect(url).toBe('https://console.example/sessions/a%3Fb%23c%20d/%C3%A9?x=%20');
  });

  test('cookies and base64 bodies arrive, and cookies leave one by one', async () => {
    const body = Buffer.from('a=1').toString('base64');
    const requestContext = { domainName: 'console.example', http: { method: 'POST' } };
    const request = toRequest(
      event({ cookies: ['a=1', 'b=2'], body, isBase64Encoded: true, requestContext }),
    );
    expect([request.headers.get('cookie'), await request.text()]).toEqual(['a=1; b=2', 'a=1']);
    const headers = new Headers([
      ['set-cookie', 'a=1; Path=/'],
      ['set-cookie', 'b=2, c'],
    ]);
    const answer = await toAnswer(new Response('x', { headers }), answerTooLarge);
    expect(answer.cookies).toEqual(['a=1; Path=/', 'b=2, c']);
    expect(answer.headers['set-cookie']).toBeUndefined();
  });

  test('an answer that Lambda would not take is told instead', async () => {
    const answer = await toAnswer(new Response('"'.repeat(4 * 1024 * 1024)), answerTooLarge);
    expect([answer.statusCode, JSON.parse(answer.body)]).toMatchObject([
      413,
      { error: { name: 'AnswerTooLarge' } },
    ]);
  });

  test.each([
    {},
    { nonsense: true },
    { version: '1.0' },
    // A `Request` of these would be an error of its own, which an alarm counts.
    event({ requestContext: { domainName: 'console.example', http: { method: 'TRACE' } } }),
  ])('%j is refused', (given) => {
    expect(() => toRequest(given)).toThrow('not valid');
  });
});

test('every error has a status that says who may do something about it', () => {
  for (const name of ERROR_NAMES)
    expect([202, 400, 401, 403, 404, 405, 409, 413, 429, 502, 503], name).toContain(httpStatusOf(name));
  expect(httpStatusOf('Somebody.Elses')).toBe(502);
});

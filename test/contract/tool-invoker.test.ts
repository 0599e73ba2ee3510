/** A tool that a function calls is read as the machine reads it: only what surely did not run is clean (S2). */
import { createServer, type RequestListener } from 'node:http';
import { LambdaClient } from '@aws-sdk/client-lambda';
import { expect, test } from 'vitest';
import { createToolInvoker } from '../../adapters/aws/sagas/tool-invoker.ts';
import type { Outcome } from '../../core/saga/decide/saga-events.ts';
import { outcomeOf } from '../../core/saga/run/engine-protocol.ts';
import { listenOnLoopback } from '../support/loopback.ts';
import { requestOf } from '../support/tool-requests.ts';

const call = async (
  respond: RequestListener,
  timeoutMs = 5000,
): Promise<{ outcome: Outcome; requests: number }> => {
  await using cleanup = new AsyncDisposableStack();
  let requests = 0;
  const server = createServer((request, response) => {
    requests += 1;
    respond(request, response);
  });
  const port = await listenOnLoopback(server);
  cleanup.defer(() => {
    server.closeAllConnections();
    server.close();
  });
  const client = new LambdaClient({
    region: 'us-east-1',
    endpoint: `http://127.0.0.1:${port}`,
    credentials: { accessKeyId: 'a', secretAccessKey: 's' },
    maxAttempts: 1,
  });
  cleanup.defer(() => client.destroy());
  const invoked = await createToolInvoker(client).invoke('tool', requestOf(), timeoutMs);
  return { outcome: outcomeOf(invoked), requests };
};

const refusing =
  (status: number, type: string): RequestListener =>
  (_, response) => {
    response.writeHead(status, { 'x-amzn-errortype': type, 'content-type': 'application/json' });
    response.end(JSON.stringify({ Type: 'User', message: type }));
  };

const answering =
  (body: string, headers: Record<string, string> = {}): RequestListener =>
  (_, response) => {
    response.writeHead(200, { 'content-type': 'application/json', ...headers });
    response.end(body);
  };

const failing = (errorType: string): RequestListener =>
  answering(JSON.stringify({ errorType, errorMessage: 'why' }), { 'x-amz-function-error': 'Unhandled' });

test.each<[string, RequestListener, Partial<Outcome>]>([
  [
    'an answer',
    answering(JSON.stringify({ outcome: 'committed', result: { ok: true }, externalRef: 're_1' })),
    { outcome: 'committed', result: { ok: true }, externalRef: 're_1' },
  ],
  [
    'throttled before it ran',
    refusing(429, 'TooManyRequestsException'),
    { outcome: 'rejected', retryable: true, reached: false },
  ],
  [
    'no such function',
    refusing(404, 'ResourceNotFoundException'),
    { outcome: 'rejected', retryable: false, reached: false },
  ],
  ['the service failed', refusing(500, 'ServiceException'), { outcome: 'unknown', answered: false }],
  ['the function failed', failing('TypeError'), { outcome: 'unknown', answered: false }],
  [
    'a tool that names its error like one of the service',
    failing('Lambda.TooManyRequestsException'),
    { outcome: 'unknown', answered: false },
  ],
  ['an answer that is no outcome', answering('"hello"'), { outcome: 'unknown', answered: true }],
  ['an answer that is no JSON', answering('<html>'), { outcome: 'unknown', answered: true }],
  [
    'a connection that breaks',
    (request) => void request.socket.destroy(),
    { outcome: 'unknown', answered: false },
  ],
])('%s, called once', async (_, respond, expected) => {
  const { outcome, requests } = await call(respond);
  expect(outcome).toMatchObject(expected);
  expect(requests).toBe(1);
});

test('a call without an answer ends when its time is over', async () => {
  const { outcome } = await call(() => undefined, 200);
  expect(outcome).toMatchObject({
    outcome: 'unknown',
    error: { name: 'States.Timeout' },
    answered: false,
  });
});

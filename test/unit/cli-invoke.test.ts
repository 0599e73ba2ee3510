import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { describe, expect, test } from 'vitest';
import { exitCodeFor } from '../../cli/failure.ts';
import { createCommandInvoke } from '../../cli/target/invoke.ts';
import { openNamed } from '../../client/connect.ts';
import { listenOnLoopback } from '../support/loopback.ts';

const openAt = (endpoint: string, options: object = {}) => {
  const opened = openNamed({
    AWS_ENDPOINT_URL_LAMBDA: endpoint,
    AWS_ACCESS_KEY_ID: 'x',
    AWS_SECRET_ACCESS_KEY: 'y',
  });
  if (opened === undefined) throw new Error('the endpoint was named');
  const invoke = createCommandInvoke({
    connection: async () => opened,
    reconnect: () => undefined,
    signal: undefined,
    attempts: 1,
    ...options,
  });
  return { invoke, close: () => opened.close() };
};

/** A Lambda endpoint that answers as it is told, and the CLI's way to call it. */
const openLambda = async (
  respond: (request: IncomingMessage, response: ServerResponse) => void,
  options: { namePrefix?: string; patienceMs?: () => number; attempts?: number } = {},
) => {
  const server = createServer(respond);
  const port = await listenOnLoopback(server);
  const { invoke, close } = openAt(`http://127.0.0.1:${port}`, options);
  return {
    invoke,
    [Symbol.asyncDispose]: async () => {
      close();
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
};

const serviceError = (response: ServerResponse, status: number, name: string): void => {
  response.writeHead(status, { 'x-amzn-errortype': name, 'content-type': 'application/json' });
  response.end(JSON.stringify({ Message: `said ${name}` }));
};

describe('calling a function', () => {
  test('sends JSON to the function of that name and answers JSON', async () => {
    let seen = '';
    await using lambda = await openLambda((request, response) => {
      seen = `${request.method} ${request.url}`;
      response.end(JSON.stringify({ sessionId: 's', expiresAt: 1 }));
    });
    const answer = await lambda.invoke('walkback-end-session', { sessionId: 's' });
    expect(answer).toEqual({ sessionId: 's', expiresAt: 1 });
    expect(seen).toBe('POST /2015-03-31/functions/walkback-end-session/invocations');
  });

  test('calls the functions of a deployment with another prefix', async () => {
    let seen: string | undefined;
    const respond = (request: IncomingMessage, response: ServerResponse) => {
      seen = request.url;
      response.end('{}');
    };
    await using lambda = await openLambda(respond, { namePrefix: 'second' });
    await lambda.invoke('walkback-end-session', { sessionId: 's' });
    expect(seen).toBe('/2015-03-31/functions/second-end-session/invocations');
  });

  test('gives up on a function that never answers, instead of waiting for ever', async () => {
    await using lambda = await openLambda(() => undefined, { patienceMs: () => 50 });
    await expect(lambda.invoke('walkback-context', { sessionId: 's' })).rejects.toMatchObject({
      errorName: 'CloudUnavailable',
    });
  });

  test('throws a function error by its literal name and message', async () => {
    await using lambda = await openLambda((_request, response) => {
      response.setHeader('x-amz-function-error', 'Unhandled');
      response.end(JSON.stringify({ errorType: 'StaleEpoch', errorMessage: 'Epoch 1 is old.', trace: [] }));
    });
    await expect(lambda.invoke('walkback-context', { sessionId: 's' })).rejects.toMatchObject({
      errorName: 'StaleEpoch',
      message: 'Epoch 1 is old.',
    });
  });

  test.each([
    [404, 'ResourceNotFoundException', 'ConfigurationError', 7],
    [403, 'UnrecognizedClientException', 'ConfigurationError', 7],
    [403, 'AccessDeniedException', 'ConfigurationError', 7],
    [429, 'TooManyRequestsException', 'Throttled', 5],
  ])('takes %i %s for a %s', async (status, name, errorName, exitCode) => {
    await using lambda = await openLambda((_request, response) => serviceError(response, status, name));
    const failure = lambda.invoke('walkback-context', { sessionId: 's' });
    await expect(failure).rejects.toMatchObject({ errorName });
    expect(exitCodeFor(errorName)).toBe(exitCode);
  });

  test('says when nothing answers', async () => {
    const { invoke, close } = openAt('http://127.0.0.1:1');
    await expect(invoke('walkback-context', { sessionId: 's' })).rejects.toMatchObject({
      errorName: 'CloudUnavailable',
    });
    close();
  });

  test('asks again with the same request when an answer was lost', async () => {
    const bodies: string[] = [];
    await using lambda = await openLambda(
      (request, response) => {
        let body = '';
        request.on('data', (chunk: Buffer) => (body += chunk.toString()));
        request.on('end', () => {
          bodies.push(body);
          if (bodies.length === 1) request.socket.destroy();
          else response.end('{}');
        });
      },
      { attempts: 2 },
    );
    const request = { sessionId: 's', messageId: 'm', requestId: 'r' };
    await expect(lambda.invoke('walkback-rollback', request)).resolves.toEqual({});
    expect(bodies).toEqual([JSON.stringify(request), JSON.stringify(request)]);
  });

  test('does not take a page of a proxy for an answer', async () => {
    await using lambda = await openLambda((_request, response) => response.end('<html>'));
    await expect(lambda.invoke('walkback-context', { sessionId: 's' })).rejects.toMatchObject({
      errorName: 'InternalError',
      message: expect.stringContaining('not JSON'),
    });
  });
});

/** Lambda's API to invoke the functions of this process and to read their configuration. */
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { type Context, Hono } from 'hono';
import type { Log } from '../../core/shared/surroundings.ts';
import { inBackground } from '../in-background.ts';
import type { FunctionPlan } from '../plan.ts';
import { type AwsCredentials, createVerifier, signedRequest } from '../sigv4.ts';
import type { LocalFunctions } from './functions.ts';
import { NotBegun } from './own-call.ts';
import type { InvocationResult } from './run-handler.ts';

const MAX_SYNCHRONOUS_BYTES = 6 * 1024 * 1024;
/** The limit was 256 KB until October 2025. */
export const MAX_ASYNCHRONOUS_BYTES = 1024 * 1024;
/** Attempts after the first one that the service gives an asynchronous invocation. */
const ASYNCHRONOUS_RETRIES = 2;
/** Pause between two tries of an invocation that found no place. Such tries are not attempts. */
const CROWDED_OUT_MS = 1_000;

const refuse = (
  c: Context,
  status: 400 | 403 | 404 | 413 | 429 | 502,
  type: string,
  message: string,
): Response => {
  c.header('x-amzn-ErrorType', type);
  return c.json({ Type: 'User', Message: message, message }, status);
};

const parseEvent = (body: Uint8Array): { event: unknown } | undefined => {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(body);
    return { event: text === '' ? {} : JSON.parse(text) };
  } catch {
    return undefined;
  }
};

export const createLambdaApi = (options: {
  functions: LocalFunctions;
  credentials: AwsCredentials;
  log: Log;
}): Hono => {
  const { functions, log } = options;
  const verify = createVerifier({ credentials: options.credentials, service: 'lambda' });

  const invokeInTheEnd = async (fn: FunctionPlan, event: unknown): Promise<InvocationResult> => {
    for (;;) {
      try {
        return await functions.invoke(fn, event);
      } catch (error) {
        if (!(error instanceof NotBegun) || error.name !== 'TooManyRequestsException') throw error;
        await delay(CROWDED_OUT_MS, undefined, { ref: false });
      }
    }
  };

  const invokeLater = async (fn: FunctionPlan, event: unknown) => {
    for (let attempt = 0; attempt <= ASYNCHRONOUS_RETRIES; attempt += 1) {
      const result = await invokeInTheEnd(fn, event);
      if (!result.failed) return;
      log.warn(`${fn.name} failed`, { attempt: attempt + 1, payload: result.payload });
    }
  };

  const app = new Hono();
  app.get('/2015-03-31/functions/:name/configuration', async (c) => {
    const refusal = await verify(signedRequest(c.req.raw, new Uint8Array()));
    if (refusal !== undefined) return refuse(c, 403, refusal.code, refusal.message);
    const found = functions.find(c.req.param('name'));
    if (found === undefined) {
      return refuse(c, 404, 'ResourceNotFoundException', `Function not found: ${c.req.param('name')}`);
    }
    const fn = await functions.current(found);
    return c.json({
      FunctionName: fn.name,
      FunctionArn: fn.arn,
      Timeout: fn.timeoutMs / 1000,
      MemorySize: fn.memoryMb,
      Version: '$LATEST',
      State: 'Active',
    });
  });
  app.post('/2015-03-31/functions/:name/invocations', async (c) => {
    const body = new Uint8Array(await c.req.arrayBuffer());
    const refusal = await verify(signedRequest(c.req.raw, body));
    if (refusal !== undefined) return refuse(c, 403, refusal.code, refusal.message);

    const type = c.req.header('x-amz-invocation-type') ?? 'RequestResponse';
    const limit = type === 'Event' ? MAX_ASYNCHRONOUS_BYTES : MAX_SYNCHRONOUS_BYTES;
    if (body.byteLength > limit) {
      const message = `${body.byteLength} byte payload is too large for the ${type} invocation type (limit ${limit} bytes)`;
      return refuse(c, 413, 'RequestTooLargeException', message);
    }
    const name = c.req.param('name');
    const fn = functions.find(name);
    if (fn === undefined) return refuse(c, 404, 'ResourceNotFoundException', `Function not found: ${name}`);
    const parsed = parseEvent(body);
    if (parsed === undefined) {
      return refuse(c, 400, 'InvalidRequestContentException', 'Could not parse request body into json');
    }

    const requestId = randomUUID();
    c.header('x-amzn-RequestId', requestId);
    c.header('X-Amz-Executed-Version', '$LATEST');
    if (type === 'DryRun') return c.body(null, 204);
    if (type === 'Event') {
      inBackground(log, `an asynchronous invocation of ${fn.name}`, () => invokeLater(fn, parsed.event));
      return c.body('', 202);
    }
    const result = await functions.invoke(fn, parsed.event, { requestId }).catch((error: unknown) => {
      if (error instanceof NotBegun) return error;
      throw error;
    });
    if (result instanceof NotBegun) {
      const status = result.name === 'TooManyRequestsException' ? 429 : 502;
      return refuse(c, status, result.name, result.message);
    }
    if (result.failed) c.header('X-Amz-Function-Error', 'Unhandled');
    return c.body(result.payload, 200, { 'content-type': 'application/json' });
  });
  return app;
};

/** Runs one invocation the way the service does: context, time limit, and errors as a payload. */
import { AsyncLocalStorage } from 'node:async_hooks';
import { randomUUID } from 'node:crypto';
import type { Context } from 'aws-lambda';
import type { FunctionPlan } from '../plan.ts';
import type { Handler } from './handler.ts';

/** The name of the function on whose behalf something runs: they share our process, and a role is one function's. */
export const runningFunction = new AsyncLocalStorage<string>();

const MAX_RESPONSE_BYTES = 6_291_556;

/** `failed: true` is the service's "function error": `payload` is `{ errorType, errorMessage, trace }`. */
export interface InvocationResult {
  failed: boolean;
  /** JSON. */
  payload: string;
}

const functionError = (errorType: string, errorMessage: string): InvocationResult => ({
  failed: true,
  // The deployed runtime adds a stack here; ours must not leave the function (docs/design.md).
  payload: JSON.stringify({ errorType, errorMessage, trace: [] }),
});

const fromThrown = (error: unknown): InvocationResult =>
  error instanceof Error
    ? functionError(error.name, error.message)
    : functionError('UnknownError', String(error));

const createContext = (fn: FunctionPlan, requestId: string, deadline: number): Context => ({
  callbackWaitsForEmptyEventLoop: false,
  functionName: fn.name,
  functionVersion: '$LATEST',
  invokedFunctionArn: fn.arn,
  memoryLimitInMB: String(fn.memoryMb),
  awsRequestId: requestId,
  logGroupName: `/aws/lambda/${fn.name}`,
  logStreamName: `local/[$LATEST]${requestId}`,
  getRemainingTimeInMillis: () => Math.max(0, deadline - Date.now()),
  done: () => undefined,
  fail: () => undefined,
  succeed: () => undefined,
});

const succeed = (result: unknown): InvocationResult => {
  const payload = JSON.stringify(result) ?? 'null';
  const sizeBytes = Buffer.byteLength(payload);
  return sizeBytes > MAX_RESPONSE_BYTES
    ? functionError(
        'Function.ResponseSizeTooLarge',
        `Response payload size (${sizeBytes} bytes) exceeded maximum allowed payload size (${MAX_RESPONSE_BYTES} bytes).`,
      )
    : { failed: false, payload };
};

/** Never rejects. After the function's time limit the answer is a timeout, as deployed; what runs, runs on. */
export const invokeHandler = async (
  fn: FunctionPlan,
  load: () => Promise<Handler>,
  event: unknown,
  requestId: string = randomUUID(),
): Promise<InvocationResult> => {
  const timeout = Promise.withResolvers<InvocationResult>();
  const timer = setTimeout(
    () =>
      timeout.resolve(
        functionError(
          'Sandbox.Timedout',
          `RequestId: ${requestId} Error: Task timed out after ${(fn.timeoutMs / 1000).toFixed(2)} seconds`,
        ),
      ),
    fn.timeoutMs,
  );
  const run = async (): Promise<InvocationResult> => {
    try {
      const handler = await load();
      const context = createContext(fn, requestId, Date.now() + fn.timeoutMs);
      return succeed(await runningFunction.run(fn.name, () => handler(event, context)));
    } catch (error) {
      return fromThrown(error);
    }
  };
  try {
    return await Promise.race([run(), timeout.promise]);
  } finally {
    clearTimeout(timer);
  }
};

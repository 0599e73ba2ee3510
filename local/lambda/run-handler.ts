/**
 * Makes one call of a handler, with the context that the service gives it. Its answer or error becomes a
 * payload.
 */
import type { Context } from 'aws-lambda';
import type { FunctionPlan } from '../plan.ts';
import type { Handler } from './handler.ts';

const MAX_RESPONSE_BYTES = 6_291_556;

/** `failed: true` is the service's "function error": `payload` is `{ errorType, errorMessage, trace }`. */
export interface InvocationResult {
  failed: boolean;
  /** The answer as JSON. */
  payload: string;
}

/**
 * `trace` is the stack, which the deployed runtime adds. The stacks of Walkback's own functions must not
 * leave them (docs/security.md).
 */
export const functionError = (
  errorType: string,
  errorMessage: string,
  trace: readonly string[] = [],
): InvocationResult => ({
  failed: true,
  payload: JSON.stringify({ errorType, errorMessage, trace }),
});

const withoutTrace = (error: unknown): InvocationResult =>
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

/** Never rejects. The time begins when the handler is loaded. */
export const runHandler = async (
  fn: FunctionPlan,
  load: () => Promise<Handler>,
  event: unknown,
  requestId: string,
  fromThrown = withoutTrace,
): Promise<InvocationResult> => {
  try {
    const handler = await load();
    return succeed(await handler(event, createContext(fn, requestId, Date.now() + fn.timeoutMs)));
  } catch (error) {
    return fromThrown(error);
  }
};

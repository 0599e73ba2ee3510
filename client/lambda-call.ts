/** One try of one Lambda invocation. Every failure becomes an error of ours. */
import { InvokeCommand, type LambdaClient } from '@aws-sdk/client-lambda';
import { errorNamed, errors, type WalkbackError } from './errors.ts';

const CREDENTIAL_ERRORS = new Set([
  'CredentialsProviderError',
  'UnrecognizedClientException',
  'ExpiredTokenException',
  'InvalidSignatureException',
  'TokenProviderError',
  'AccessDeniedException',
]);

const UNREACHABLE = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'ECONNRESET',
  'ECONNABORTED',
  'EHOSTUNREACH',
  'EAI_AGAIN',
  'ETIMEDOUT',
  'EPIPE',
  'UND_ERR_SOCKET',
]);

/**
 * Keeps an error of one try away from the SDK's own retries: only this client decides how often a call is
 * made.
 */
class OneTry extends Error {
  readonly inner: unknown;

  constructor(inner: unknown) {
    super('one try');
    this.inner = inner;
  }
}

const once =
  <Request, Response>(next: (request: Request) => Promise<Response>) =>
  (request: Request): Promise<Response> =>
    next(request).catch((error: unknown) => {
      throw new OneTry(error);
    });

const httpStatus = (error: object): number => {
  if (!('$metadata' in error)) return 0;
  const { $metadata: metadata } = error;
  return typeof metadata === 'object' && metadata !== null && 'httpStatusCode' in metadata
    ? Number(metadata.httpStatusCode)
    : 0;
};

const isLost = (error: Error): boolean => {
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  return UNREACHABLE.has(code) || error.name === 'TimeoutError' || /socket hang up/.test(error.message);
};

/** What the SDK appends for a reader of its own error object, which our callers do not get. */
const SDK_HINT = /\n\s*Deserialization error: .*$/s;

/** The meaning of a failed call of the Lambda service. */
const serviceError = (functionName: string, cause: unknown): WalkbackError => {
  const error = cause instanceof Error ? cause : new Error(String(cause));
  const { name } = error;
  const message = error.message.replace(SDK_HINT, '');
  if (name === 'ResourceNotFoundException') {
    const advice = 'deploy it, or check the region and the name prefix';
    return new errors.ConfigurationError(`The function ${functionName} is not there: ${advice}.`, { cause });
  }
  if (CREDENTIAL_ERRORS.has(name) || message.includes('Region is missing')) {
    return new errors.ConfigurationError(`${functionName} cannot be called: ${message}`, { cause });
  }
  if (name === 'RequestTooLargeException') return new errors.InvalidInput(message, { cause });
  if (name === 'TooManyRequestsException' || httpStatus(error) === 429) {
    return new errors.Throttled(message, { cause });
  }
  if (isLost(error) || httpStatus(error) >= 500) {
    return new errors.CloudUnavailable(`${functionName} cannot be reached: ${message}`, { cause });
  }
  return errorNamed(name, message, { cause });
};

/** A function that ran out of time, or whose process ended, has not said what it did. */
const ENDED = /^(?:Sandbox\.Timedout|Runtime\.(?:ExitError|OutOfMemory))$/;

const textOf = (value: unknown, name: string): string | undefined => {
  if (typeof value !== 'object' || value === null || !(name in value)) return undefined;
  const member: unknown = Reflect.get(value, name);
  return typeof member === 'string' ? member : undefined;
};

/** The payload comes from our own function, so its shape is the contract's and is not checked again. */
const parsed = (functionName: string, payload: Uint8Array | undefined): ReturnType<JSON['parse']> => {
  try {
    return JSON.parse(new TextDecoder().decode(payload));
  } catch (cause) {
    throw new errors.InternalError(`${functionName} answered something that is not JSON.`, { cause });
  }
};

/** The error that a function answered. */
const functionError = (functionName: string, payload: unknown): WalkbackError => {
  const message = textOf(payload, 'errorMessage') ?? `${functionName} failed without a message.`;
  const type = textOf(payload, 'errorType') ?? (/Task timed out/.test(message) ? 'Sandbox.Timedout' : '');
  if (type === '') return new errors.InternalError(message);
  return ENDED.test(type) ? errorNamed(type, message, { retryable: true }) : errorNamed(type, message);
};

export interface Try {
  functionName: string;
  /** The request as JSON. */
  payload: string;
  timeoutMs: number;
  signal: AbortSignal | undefined;
}

/** The function's answer. An abort is thrown as the signal's reason, everything else as an error of ours. */
export const callLambda = async <T>(client: LambdaClient, call: Try): Promise<T> => {
  const { functionName, payload, timeoutMs, signal } = call;
  signal?.throwIfAborted();
  const command = new InvokeCommand({
    FunctionName: functionName,
    Payload: new TextEncoder().encode(payload),
  });
  command.middlewareStack.addRelativeTo(once, {
    name: 'walkbackOneTry',
    relation: 'after',
    toMiddleware: 'retryMiddleware',
  });
  const patience = AbortSignal.timeout(timeoutMs);
  const abortSignal = signal === undefined ? patience : AbortSignal.any([signal, patience]);
  try {
    const response = await client.send(command, { abortSignal, requestTimeout: timeoutMs });
    if (response.FunctionError === undefined) return parsed(functionName, response.Payload);
    throw functionError(functionName, parsed(functionName, response.Payload));
  } catch (error) {
    signal?.throwIfAborted();
    if (error instanceof Error && 'advice' in error) throw error;
    const cause = error instanceof OneTry ? error.inner : error;
    if (patience.aborted) {
      const message = `${functionName} has not answered within ${timeoutMs / 1000} s.`;
      throw new errors.CloudUnavailable(message, { cause });
    }
    throw serviceError(functionName, cause);
  }
};

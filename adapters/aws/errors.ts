/**
 * Turns AWS errors into Walkback's own, so that callers match on literal names and know whether a retry can
 * help.
 */
import { WalkbackError } from '../../core/shared/errors.ts';

const THROTTLED = new Set([
  'ThrottlingException',
  'Throttling',
  'ThrottlingError',
  'TooManyRequestsException',
  'ProvisionedThroughputExceededException',
  'ProvisionedThroughputExceeded',
  'RequestLimitExceeded',
  'RequestThrottled',
  'SlowDown',
  'LimitExceededException',
  // The account has as many executions as it may have. Some of them will end.
  'ExecutionLimitExceeded',
  'TransactionInProgressException',
  'TransactionConflict',
  'TransactionConflictException',
]);

const MISCONFIGURED = new Set([
  'AccessDenied',
  'AccessDeniedException',
  'CredentialsProviderError',
  'ExpiredToken',
  'ExpiredTokenException',
  'InvalidAccessKeyId',
  'InvalidSignatureException',
  'NoSuchBucket',
  'ResourceNotFoundException',
  'SignatureDoesNotMatch',
  'UnrecognizedClientException',
]);

interface ServiceError {
  name: string;
  message: string;
  status: number | undefined;
}

const facts = (error: unknown): ServiceError => {
  if (!(error instanceof Error)) return { name: 'Error', message: String(error), status: undefined };
  const metadata = '$metadata' in error ? error.$metadata : undefined;
  const status =
    typeof metadata === 'object' && metadata !== null && 'httpStatusCode' in metadata
      ? metadata.httpStatusCode
      : undefined;
  return {
    name: error.name,
    message: error.message,
    status: typeof status === 'number' ? status : undefined,
  };
};

export const isNamed = (error: unknown, ...names: string[]): boolean =>
  error instanceof Error && names.includes(error.name);

export const httpStatus = (error: unknown): number | undefined => facts(error).status;

/**
 * Classifies a service's error: throttled and unreachable are retryable, missing rights or names are the
 * operator's to fix, anything else is a bug of ours.
 */
export const toWalkbackError = (service: string, error: unknown): WalkbackError => {
  if (error instanceof WalkbackError) return error;
  const { name, message, status } = facts(error);
  if (THROTTLED.has(name) || status === 429) {
    return new WalkbackError('Throttled', `${service} is throttling (${name}). Call again.`, {
      cause: error,
      retryable: true,
    });
  }
  if (MISCONFIGURED.has(name) || status === 401 || status === 403) {
    return new WalkbackError(
      'ConfigurationError',
      `${service} refused the call (${name}). Check names, region and rights of the function.`,
      { cause: error },
    );
  }
  // Without a status there was no answer: connection refused, reset, timed out.
  if (status === undefined || status >= 500) {
    return new WalkbackError('StorageUnavailable', `${service} did not answer (${name}). Call again.`, {
      cause: error,
      retryable: true,
    });
  }
  return new WalkbackError('InternalError', `${service} refused the call (${name}: ${message}).`, {
    cause: error,
  });
};

/** Runs one call of a service. Every error comes out as a `WalkbackError`. */
export const calling = async <T>(service: string, call: () => Promise<T>): Promise<T> => {
  try {
    return await call();
  } catch (error) {
    throw toWalkbackError(service, error);
  }
};

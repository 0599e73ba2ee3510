import { ERRORS, type ErrorName } from '../../contract/errors.ts';

/**
 * The one base class of Walkback's errors. `name` is one of contract/errors.ts, never taken from a class,
 * because a minifier changes class names. `message` says what to do. `retryable` is the name's default
 * unless this error differs.
 */
export class WalkbackError extends Error {
  override readonly name: ErrorName;
  readonly retryable: boolean;
  /** Facts for a program: ids, paths, lists. Never secrets, never file contents. */
  readonly details: Readonly<Record<string, unknown>>;

  constructor(
    name: ErrorName,
    message: string,
    options: { cause?: unknown; retryable?: boolean; details?: Record<string, unknown> } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = name;
    this.retryable = options.retryable ?? ERRORS[name].retryable;
    this.details = options.details ?? {};
  }
}

export const isWalkbackError = (error: unknown, name?: ErrorName): error is WalkbackError =>
  error instanceof WalkbackError && (name === undefined || error.name === name);

/**
 * All other names that the state machine may match on. They come from Step Functions and Lambda, not from
 * us. Their meaning for a call is in core/saga/tools/engine-errors.ts.
 */
export const ENGINE_ERRORS = [
  'States.ALL',
  'States.Timeout',
  'States.TaskFailed',
  'States.DataLimitExceeded',
  'Lambda.TooManyRequestsException',
  'Lambda.EC2ThrottledException',
] as const;

/** The errors by which a tool reports its outcome. Any other error leaves the outcome open (S2). */

/**
 * Nothing happened. `retryable`: the same call may succeed later (throttled, in flight elsewhere).
 * `retryAfterSeconds`: the provider asks not to call before that; at most an hour counts.
 */
export class ToolRejected extends Error {
  override readonly name = 'ToolRejected';
  readonly code: string;
  readonly retryable: boolean;
  readonly retryAfterSeconds?: number;

  constructor(
    code: string,
    message: string,
    options: { retryable?: boolean; retryAfterSeconds?: number; cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    // A provider that says when to come back expects a retry.
    this.retryable = options.retryable ?? options.retryAfterSeconds !== undefined;
    if (options.retryAfterSeconds !== undefined) this.retryAfterSeconds = options.retryAfterSeconds;
  }
}

/**
 * It may have happened. `answered`: the provider itself said so, so asking again with the same key gives the
 * same answer.
 */
export class ToolUncertain extends Error {
  override readonly name = 'ToolUncertain';
  readonly code: string;
  readonly answered: boolean;
  readonly externalRef?: string;

  constructor(
    code: string,
    message: string,
    options: { answered?: boolean; externalRef?: string; cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.answered = options.answered ?? false;
    if (options.externalRef !== undefined) this.externalRef = options.externalRef;
  }
}

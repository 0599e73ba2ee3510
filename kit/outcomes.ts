/** How a tool says that nothing happened. Everything else it throws leaves the outcome open (S2). */

/**
 * Nothing happened. `retryable`: the same call may succeed later (throttled, in flight elsewhere). `retryAfterSeconds`: not before,
 * as the provider asks; up to an hour is honoured.
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
    // Who says when to come back says that coming back is of use.
    this.retryable = options.retryable ?? options.retryAfterSeconds !== undefined;
    if (options.retryAfterSeconds !== undefined) this.retryAfterSeconds = options.retryAfterSeconds;
  }
}

/** It may have happened. `answered`: the provider said so itself, so asking again with the same key says the same. */
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

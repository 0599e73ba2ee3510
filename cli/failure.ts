import { CommanderError } from 'commander';
import { EXIT_CODES, exitCodeFor } from './exit-codes.ts';

/** An error a person can act on: the literal name of a function's error, or one of the CLI's own. */
export class CliError extends Error {
  readonly errorName: string;
  readonly hint: string | undefined;

  constructor(errorName: string, message: string, options: { hint?: string; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'CliError';
    this.errorName = errorName;
    this.hint = options.hint;
  }
}

export const isInterruption = (error: unknown): boolean =>
  error instanceof CliError && error.errorName === 'Interrupted';

/** What is shown of an error, decided before anything is printed. An empty message: nothing. */
export interface Failure {
  name: string;
  message: string;
  hint?: string;
  exitCode: number;
}

const HINTS: Readonly<Record<string, string>> = {
  SessionNotFound: 'walkback session list',
  MessageNotFound: 'walkback log shows the messages and checkpoints of the session',
  CheckpointNotFound: 'walkback log shows the messages and checkpoints of the session',
  SandboxNotFound: 'walkback rehydrate brings the session back in a fresh sandbox',
  IncompleteTarget: 'walkback log shows what it misses; --allow-partial restores the rest',
  RollbackInProgress: 'wait for it, or repeat it with its own --request id to finish it',
};

/** Names an unknown error: ours by its literal name, a vendor's as `InternalError` with its message. */
export const describeFailure = (error: unknown): Failure => {
  if (error instanceof CommanderError) {
    // Help and version were printed already; there is nothing to say about them.
    const isShown = error.code === 'commander.help' || error.exitCode === 0;
    return {
      name: 'InvalidInput',
      message: isShown ? '' : error.message.replace(/^error: /, ''),
      exitCode: error.exitCode === 0 ? EXIT_CODES.ok : EXIT_CODES.usage,
    };
  }
  if (error instanceof CliError) {
    const hint = error.hint ?? HINTS[error.errorName];
    return withHint(error.errorName, error.message, hint);
  }
  if (error instanceof Error && exitCodeFor(error.name) !== EXIT_CODES.failed) {
    return withHint(error.name, error.message, HINTS[error.name]);
  }
  const message = error instanceof Error ? error.message : String(error);
  const name = error instanceof Error && error.name !== 'Error' ? error.name : 'InternalError';
  return withHint(name, message, undefined);
};

const withHint = (name: string, message: string, hint: string | undefined): Failure => ({
  name,
  message,
  ...(hint === undefined ? {} : { hint }),
  exitCode: exitCodeFor(name),
});

import { CommanderError } from 'commander';
import { errorRow, isErrorName } from '../contract/errors.ts';
import { EXIT_CODES } from '../contract/exit-codes.ts';
import { UsageError } from './told-command.ts';

/** An error a person can act on: the literal name of a function's error, or one of the CLI's own. */
export class CliError extends Error {
  readonly errorName: string;
  readonly hint: string | undefined;
  /** Details for a program, shown beside the message with `--json`. */
  readonly details: Readonly<Record<string, unknown>> | undefined;
  /** Exit code of another program whose end this is. Otherwise the name decides. */
  readonly exitCode: number | undefined;

  constructor(
    errorName: string,
    message: string,
    options: { hint?: string; cause?: unknown; details?: Record<string, unknown>; exitCode?: number } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'CliError';
    this.errorName = errorName;
    this.hint = options.hint;
    this.details = options.details;
    this.exitCode = options.exitCode;
  }
}

/** Whether it is a function's error, or one of our own, with this name. */
export const isCliError = (error: unknown, errorName: string): boolean =>
  error instanceof CliError && error.errorName === errorName;

export const isInterruption = (error: unknown): boolean => isCliError(error, 'Interrupted');

/** The exit code for an error of this literal name. A name that is not ours gives the plain failure code. */
export const exitCodeFor = (errorName: string): number =>
  EXIT_CODES[errorRow(errorName)?.exitCode ?? 'failed'].code;

/** The parts of an error to show, decided before anything is printed. An empty message shows nothing. */
export interface Failure {
  name: string;
  message: string;
  hint?: string;
  details?: Readonly<Record<string, unknown>>;
  exitCode: number;
}

/** Names an unknown error: ours by its literal name, any other as `InternalError` with its message. */
export const describeFailure = (error: unknown): Failure => {
  if (error instanceof CommanderError) {
    // A group of commands without a named command shows its help first.
    const said = error.code === 'commander.help' ? 'Name a command.' : error.message.replace(/^error: /, '');
    return {
      name: 'InvalidInput',
      // Requested help and version were printed already, so there is nothing more to say.
      message: error.exitCode === 0 ? '' : said,
      ...(error instanceof UsageError ? { hint: error.hint } : {}),
      exitCode: error.exitCode === 0 ? EXIT_CODES.ok.code : EXIT_CODES.usage.code,
    };
  }
  if (error instanceof CliError) {
    const hint = error.hint ?? adviceFor(error.errorName);
    const failure = {
      ...withHint(error.errorName, error.message, hint),
      ...(error.exitCode === undefined ? {} : { exitCode: error.exitCode }),
    };
    return error.details === undefined ? failure : { ...failure, details: error.details };
  }
  if (error instanceof Error && isErrorName(error.name)) {
    return withHint(error.name, error.message, adviceFor(error.name));
  }
  const message = error instanceof Error ? error.message : String(error);
  const name = error instanceof Error && error.name !== 'Error' ? error.name : 'InternalError';
  return withHint(name, message, undefined);
};

const adviceFor = (name: string): string | undefined => errorRow(name)?.advice;

const withHint = (name: string, message: string, hint: string | undefined): Failure => ({
  name,
  message,
  ...(hint === undefined ? {} : { hint }),
  exitCode: exitCodeFor(name),
});

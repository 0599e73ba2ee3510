/** Runs one command through the SDK and turns its events into lines and a result. */
import { CommandExitError, type Sandbox } from 'e2b';
import {
  type CommandOptions,
  type CommandResult,
  MAX_COMMAND_BYTES,
} from '../../core/checkpoint/ports/sandbox.ts';
import { WalkbackError } from '../../core/shared/errors.ts';
import { createLineSplitter } from '../../core/shared/lines.ts';
import { classify } from './classify.ts';

/** How long the sandbox may take to start a command. */
const START_TIMEOUT_MS = 30_000;
/** The SDK keeps all output in memory; a sandbox that never stops talking must not exhaust ours (C10). */
const MAX_OUTPUT_CHARS = 32 * 1024 * 1024;

/**
 * The SDK always starts a login shell. In POSIX mode the shell reads neither /etc/profile nor
 * ~/.bash_profile, which the agent may have written. The first line of the command leaves that mode again,
 * for the command and what it starts.
 */
const ENVIRONMENT = { POSIXLY_CORRECT: '1' };
const PROLOGUE = 'unset POSIXLY_CORRECT\n';

const check = (command: string, { timeoutMs }: CommandOptions): void => {
  if (!Number.isFinite(timeoutMs) || timeoutMs < 1)
    throw new WalkbackError('InvalidInput', 'A command needs a timeout of at least 1 ms.');
  if (Buffer.byteLength(command) > MAX_COMMAND_BYTES)
    throw new WalkbackError('InvalidInput', 'A command is at most 120 KiB; put the rest into a file.');
};

/** Throws a `WalkbackError`, or whatever `onLine` or `onErrorLine` threw. */
export const runCommand = async (
  sandbox: Sandbox,
  command: string,
  options: CommandOptions,
): Promise<CommandResult> => {
  check(command, options);
  const lines = createLineSplitter((line) => options.onLine?.(line));
  const errorLines = createLineSplitter((line) => options.onErrorLine?.(line));
  let chars = 0;
  let failure: { error: unknown } | undefined;

  // The SDK reports an error of a callback as if the connection had failed, so our own error is kept
  // separately.
  const guarded = (step: () => void): void => {
    try {
      step();
    } catch (error) {
      failure = { error };
      throw error;
    }
  };
  const count = (text: string): void => {
    chars += text.length;
    if (chars > MAX_OUTPUT_CHARS)
      throw new WalkbackError(
        'SandboxUnavailable',
        'The command wrote more than 32 MiB; it was left alone.',
        {
          retryable: false,
          details: { sandboxId: sandbox.sandboxId, outcome: 'unknown' },
        },
      );
  };
  const finished = ({ exitCode, stdout, stderr }: CommandResult): CommandResult => {
    guarded(() => {
      lines.end();
      errorLines.end();
    });
    return { exitCode, stdout, stderr };
  };

  try {
    const result = await sandbox.commands.run(PROLOGUE + command, {
      cwd: options.cwd,
      envs: ENVIRONMENT,
      timeoutMs: options.timeoutMs,
      requestTimeoutMs: Math.min(START_TIMEOUT_MS, options.timeoutMs),
      onStdout: (text) =>
        guarded(() => {
          count(text);
          lines.push(text);
        }),
      onStderr: (text) =>
        guarded(() => {
          count(text);
          errorLines.push(text);
        }),
    });
    return finished(result);
  } catch (error) {
    if (failure !== undefined) throw failure.error;
    if (error instanceof CommandExitError) return finished(error);
    throw classify(error, sandbox.sandboxId);
  }
};

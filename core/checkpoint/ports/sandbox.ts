/**
 * Sandboxes, and the operations inside one (`adapters/e2b`). Every method throws a `WalkbackError`, never a
 * vendor's.
 */

export interface CommandResult {
  exitCode: number;
  /** Everything the command wrote, as text; keep it small. */
  stdout: string;
  stderr: string;
}

export interface CommandOptions {
  /** Absolute directory inside the sandbox; must exist. */
  cwd?: string;
  timeoutMs: number;
  /** Called with every complete line of stdout while the command runs. An error it throws rejects the run. */
  onLine?: (line: string) => void;
  /** The same for stderr. */
  onErrorLine?: (line: string) => void;
}

/**
 * Limit of one command. An argument of a Linux process is at most 128 KiB (MAX_ARG_STRLEN), and the wrapper
 * around the command needs a little of that.
 */
export const MAX_COMMAND_BYTES = 120 * 1024;

/** One sandbox. It is not trusted (C10): the caller verifies its answers. */
export interface ExecutionAdapter {
  readonly sandboxId: string;
  /**
   * Runs one command of a POSIX shell, of at most `MAX_COMMAND_BYTES`. A non-zero exit is a result, not an error.
   * `command` must not contain secrets, because the sandbox's daemon logs it.
   */
  run(command: string, options: CommandOptions): Promise<CommandResult>;
  /** Writes files in one round trip, creating parent directories. File contents are not logged by the daemon. */
  writeFiles(files: { path: string; data: Uint8Array | string }[]): Promise<void>;
  /** Streams one file up, for content that does not fit in memory. */
  writeStream(path: string, data: ReadableStream<Uint8Array>): Promise<void>;
  /** Reads a whole file. `maxBytes` protects memory (`BundleTooLarge`). */
  readFile(path: string, maxBytes: number): Promise<Uint8Array>;
  readStream(path: string): Promise<ReadableStream<Uint8Array>>;
}

/** What a command needs that answers in its output alone. */
export type CommandRunner = Pick<ExecutionAdapter, 'run' | 'writeFiles'>;

export interface SandboxTags {
  [name: string]: string;
}

/** A running sandbox, as a search answers it. */
export interface FoundSandbox {
  sandboxId: string;
  tags: SandboxTags;
  startedAt: string;
  /** When it ends by itself. */
  endsAt?: string;
}

export interface Sandboxes {
  /**
   * Connects to a running sandbox. Throws `SandboxNotFound` when it is gone or paused. Does not resume it
   * or cause a charge. A sandbox that was used a moment ago is assumed to be still there, unless `fresh`.
   */
  open(sandboxId: string, options?: { fresh?: boolean }): Promise<ExecutionAdapter>;
  /** Creates a sandbox with these `tags`. They are the only way to find an orphan again. */
  create(options: { template?: string; tags: SandboxTags; timeoutMs: number }): Promise<ExecutionAdapter>;
  /** Running sandboxes carrying all the given tags, oldest first. Without tags: every one of the account. */
  find(tags: SandboxTags): Promise<FoundSandbox[]>;
  /** False when it was already gone. */
  kill(sandboxId: string): Promise<boolean>;
}

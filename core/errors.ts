/**
 * Every error Walkback reports, by its literal name. Step Functions and callers match on these names, so a
 * name is part of the contract: it is never renamed and never taken from a class (a minifier changes those).
 */
export type ErrorName =
  // the caller's input
  | 'InvalidInput'
  | 'SessionNotFound'
  | 'SessionEnded'
  | 'SessionConflict'
  | 'MessageNotFound'
  | 'CheckpointNotFound'
  | 'RequestConflict'
  | 'StaleEpoch'
  | 'IncompleteTarget'
  // the sandbox
  | 'SandboxNotFound'
  | 'SandboxUnavailable'
  | 'SandboxUnsupported'
  | 'SandboxChanged'
  | 'ProjectsRootNotFound'
  | 'NoRepositories'
  // the work itself
  | 'CaptureFailed'
  | 'RestoreConflict'
  | 'RestoreFailed'
  | 'RollbackInProgress'
  | 'RollbackIncomplete'
  | 'RehydrateFailed'
  | 'BundleMissing'
  | 'BundleCorrupt'
  | 'BundleTooLarge'
  // the services below
  | 'Throttled'
  | 'StorageUnavailable'
  | 'ConfigurationError'
  | 'InternalError';

/** The one base: `name` is literal, `message` says what to do, `retryable` says whether the same call may succeed later. */
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
    this.retryable = options.retryable ?? false;
    this.details = options.details ?? {};
  }
}

export const isWalkbackError = (error: unknown, name?: ErrorName): error is WalkbackError =>
  error instanceof WalkbackError && (name === undefined || error.name === name);

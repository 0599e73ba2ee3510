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
  // sagas: the caller's input
  | 'PlanRefused'
  | 'CatalogRefused'
  | 'SagaNotFound'
  | 'StepNotFound'
  | 'AnswerConflict'
  | 'ApprovalExpired'
  | 'ApprovalDeclined'
  | 'ArgumentsChanged'
  | 'OperationRefused'
  | 'ArgumentsUnresolved'
  // sagas: tools and their outcomes
  | 'InvalidArguments'
  | 'InvalidResult'
  | 'ResultTooLarge'
  | 'DeadlinePassed'
  | 'Fenced'
  | 'ToolUnavailable'
  | 'OutcomeUnknown'
  | 'Cancelled'
  | 'CompensationBlocked'
  | 'CompensationFailed'
  | 'LedgerBroken'
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

/**
 * Names that come from Step Functions and Lambda, not from us: everything else the state machine may match on. The ones
 * in `CLEAN_ENGINE_ERRORS` say for sure that the function was never started; any other leaves the outcome open.
 */
export const ENGINE_ERRORS = [
  'States.ALL',
  'States.Timeout',
  'States.TaskFailed',
  'States.DataLimitExceeded',
  'Lambda.TooManyRequestsException',
  'Lambda.EC2ThrottledException',
] as const;

export const CLEAN_ENGINE_ERRORS = [
  'Lambda.TooManyRequestsException',
  'Lambda.EC2ThrottledException',
] as const;

/** What the shell is told. The table is printed by `walkback --help` and documented in docs/cli.md. */
export const EXIT_CODES = {
  ok: 0,
  failed: 1,
  usage: 2,
  notFound: 3,
  conflict: 4,
  unavailable: 5,
  notRestorable: 6,
  configuration: 7,
  interrupted: 130,
} as const;

export const EXIT_CODE_MEANINGS: readonly (readonly [code: number, meaning: string])[] = [
  [EXIT_CODES.ok, 'done'],
  [EXIT_CODES.failed, 'failed; the message says what is left as it was'],
  [EXIT_CODES.usage, 'wrong usage or input'],
  [EXIT_CODES.notFound, 'no such session, message, checkpoint, sandbox or directory'],
  [EXIT_CODES.conflict, 'refused: stale epoch, another rollback, the sandbox changed'],
  [EXIT_CODES.unavailable, 'a service did not answer; the same call may work later'],
  [EXIT_CODES.notRestorable, 'the checkpoint is incomplete, or its data is missing or damaged'],
  [EXIT_CODES.configuration, 'this machine or account is not set up'],
  [EXIT_CODES.interrupted, 'interrupted'],
];

const CODE_BY_NAME: Readonly<Record<string, number>> = {
  InvalidInput: EXIT_CODES.usage,
  SessionNotFound: EXIT_CODES.notFound,
  MessageNotFound: EXIT_CODES.notFound,
  CheckpointNotFound: EXIT_CODES.notFound,
  SandboxNotFound: EXIT_CODES.notFound,
  ProjectsRootNotFound: EXIT_CODES.notFound,
  NoRepositories: EXIT_CODES.notFound,
  SagaNotFound: EXIT_CODES.notFound,
  StepNotFound: EXIT_CODES.notFound,
  PlanRefused: EXIT_CODES.usage,
  CatalogRefused: EXIT_CODES.usage,
  AnswerConflict: EXIT_CODES.conflict,
  ApprovalExpired: EXIT_CODES.conflict,
  OperationRefused: EXIT_CODES.conflict,
  SessionEnded: EXIT_CODES.conflict,
  SessionConflict: EXIT_CODES.conflict,
  RequestConflict: EXIT_CODES.conflict,
  StaleEpoch: EXIT_CODES.conflict,
  SandboxChanged: EXIT_CODES.conflict,
  RestoreConflict: EXIT_CODES.conflict,
  RollbackInProgress: EXIT_CODES.conflict,
  SandboxUnavailable: EXIT_CODES.unavailable,
  Throttled: EXIT_CODES.unavailable,
  StorageUnavailable: EXIT_CODES.unavailable,
  CloudUnavailable: EXIT_CODES.unavailable,
  DataDirInUse: EXIT_CODES.unavailable,
  IncompleteTarget: EXIT_CODES.notRestorable,
  BundleMissing: EXIT_CODES.notRestorable,
  BundleCorrupt: EXIT_CODES.notRestorable,
  BundleTooLarge: EXIT_CODES.notRestorable,
  ConfigurationError: EXIT_CODES.configuration,
  SandboxUnsupported: EXIT_CODES.configuration,
  Interrupted: EXIT_CODES.interrupted,
};

/** The exit code for an error of this literal name; a name nobody mapped is a plain failure. */
export const exitCodeFor = (errorName: string): number =>
  Object.hasOwn(CODE_BY_NAME, errorName) ? (CODE_BY_NAME[errorName] ?? EXIT_CODES.failed) : EXIT_CODES.failed;

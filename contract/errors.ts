/**
 * Every error by its literal name, and everything that depends on the name alone. Step Functions, alarms
 * and callers match on these names, so a name is never changed. Exit codes, refusals, hints of the command
 * and the tables in the docs derive from this list.
 */
import type { ExitCodeName } from './exit-codes.ts';

interface ErrorRow {
  /**
   * `refusal`: the caller asked wrongly, or something stands in the way as designed; no alarm rings.
   * `fault`: something failed that should not have.
   */
  kind: 'refusal' | 'fault';
  /** Whether the same call may succeed later. A single error may override this. */
  retryable: boolean;
  exitCode: ExitCodeName;
  /** Advice worded for a terminal as well as for a table. */
  advice: string;
  /** Of HTTP, which has a word of its own for it; the others have theirs by kind and exit code. */
  httpStatus?: number;
  /** A sandbox may report this error. Other names from a sandbox are not believed (C10). */
  isToldBySandbox?: true;
}

const row = (kind: ErrorRow['kind'], exitCode: ExitCodeName, advice: string): ErrorRow => ({
  kind,
  retryable: false,
  exitCode,
  advice,
});
const refusal = (exitCode: ExitCodeName, advice: string): ErrorRow => row('refusal', exitCode, advice);
const fault = (exitCode: ExitCodeName, advice: string): ErrorRow => row('fault', exitCode, advice);
const laterMaybe = (error: ErrorRow): ErrorRow => ({ ...error, retryable: true });
const answered = (httpStatus: number, error: ErrorRow): ErrorRow => ({ ...error, httpStatus });
const toldBySandbox = (error: ErrorRow): ErrorRow => ({ ...error, isToldBySandbox: true });

const INCOMPLETE = 'walkback log shows what it lacks; --allow-partial (allowPartial) restores the rest';
const NAMES_POINTS = 'walkback log shows the messages and checkpoints of the session';
const NAMES_SAGAS = 'walkback saga list shows the sagas, walkback saga show their steps';
const ANOTHER_TARGET = 'choose another checkpoint (walkback log shows them), and look at the bucket';
const REPAIR = 'walkback saga retry, resolve or skip for each step that is left';

/** Errors of checkpoints, rollbacks and rehydrates. */
const CHECKPOINT_ERRORS = {
  InvalidInput: refusal('usage', 'correct the fields that the message names; --help says what is expected'),
  SessionNotFound: refusal('notFound', 'walkback session list shows the sessions'),
  SessionEnded: refusal(
    'conflict',
    'walkback session list shows those that run: go on in one, start another, or rehydrate a checkpoint of this one',
  ),
  SessionConflict: refusal('conflict', 'repeat the first call unchanged, or choose another session id'),
  MessageNotFound: refusal('notFound', NAMES_POINTS),
  CheckpointNotFound: refusal('notFound', NAMES_POINTS),
  RequestConflict: refusal('conflict', 'repeat the first request unchanged, or choose another request id'),
  StaleEpoch: refusal(
    'conflict',
    'a rollback came between: read the timeline, or make the plan again, and go on from its epoch',
  ),
  IncompleteTarget: refusal('notRestorable', INCOMPLETE),
  SandboxNotFound: refusal('notFound', 'walkback rehydrate brings the session back in a fresh sandbox'),
  SandboxUnavailable: toldBySandbox(
    laterMaybe(
      fault('unavailable', 'call again; when it repeats, look at the sandbox and at what it is busy with'),
    ),
  ),
  SandboxUnsupported: toldBySandbox(
    refusal(
      'configuration',
      'do what the message says; tools that are missing belong into the template of the sandbox',
    ),
  ),
  SandboxChanged: refusal('conflict', 'stop what writes into the sandbox, then call with a new request id'),
  ProjectsRootNotFound: toldBySandbox(
    refusal(
      'notFound',
      'check the path; where the directory of a session is gone, make it again, empty, then call again',
    ),
  ),
  NoRepositories: refusal(
    'notFound',
    'choose a projects root that is a git repository or holds some, and is not inside of one',
  ),
  LooseFilesTooLarge: refusal(
    'conflict',
    'leave out what need not come back (exclude, or a .gitignore), or start in a smaller directory or one with repositories',
  ),
  CaptureFailed: fault('failed', 'see the reason, correct it in the sandbox, then call again'),
  RestoreConflict: toldBySandbox(
    refusal('conflict', 'move the named paths away, then call with a new request id'),
  ),
  RestoreFailed: fault('failed', 'see the reason, then call with a new request id'),
  RollbackInProgress: laterMaybe(
    refusal('conflict', 'wait for it, or repeat it with its own --request id to finish it'),
  ),
  RollbackIncomplete: laterMaybe(
    fault('failed', 'repeat it with its own --request id, or rehydrate with mode resume'),
  ),
  ChangesetConflict: refusal(
    'conflict',
    'nothing was changed: the message says what conflicts, and how to go on',
  ),
  TargetMoved: refusal(
    'conflict',
    'nothing was changed: fork again from where the target stands, merge and verify there, then apply that',
  ),
  SourceMoved: refusal(
    'conflict',
    'nothing was changed: make the plan again, look at what came since, and merge that',
  ),
  WorkLeftBehind: refusal(
    'conflict',
    'nothing is left to take back: the timeline shows what stands, and a rollback to that message brings its work back',
  ),
  UncapturedWork: refusal(
    'conflict',
    'nothing was destroyed: the message says what no checkpoint holds, and how to go on',
  ),
  CommitmentsBroken: refusal('failed', 'see what the commands wrote, correct the work, then verify again'),
  GoodPointFails: refusal(
    'failed',
    'name a point where the command succeeds, or correct the command: a copy has only what the checkpoint holds and what the template brings',
  ),
  BadPointPasses: refusal('failed', 'name a point where the command fails, or take a checkpoint first'),
  PointNotJudged: refusal('failed', 'name another point, or correct the command'),
  PathNotFound: refusal(
    'notFound',
    'walkback diff and walkback changes show the paths; --at names a point at which it is there',
  ),
  PathAmbiguous: refusal('usage', 'name one of the repositories with --repository (repository)'),
  NotATextFile: refusal('usage', 'name a file that consists of lines'),
  RollbackAbandoned: refusal(
    'conflict',
    'nobody came back for it, and another call settled it: read the timeline',
  ),
  RehydrateFailed: fault('failed', 'see the reason, then call again'),
  BundleMissing: fault('notRestorable', ANOTHER_TARGET),
  BundleCorrupt: toldBySandbox(fault('notRestorable', ANOTHER_TARGET)),
  BundleTooLarge: fault('notRestorable', 'leave large files out (exclude, maxFileBytes)'),
} as const satisfies Record<string, ErrorRow>;

/** Errors of calls about sagas. */
const SAGA_ERRORS = {
  PlanRefused: refusal('usage', 'correct the step: the message names it, and the rule that it breaks'),
  CatalogRefused: refusal('usage', 'correct what the message names; a stored version never changes'),
  SagaNotFound: refusal('notFound', NAMES_SAGAS),
  StepNotFound: refusal('notFound', NAMES_SAGAS),
  AnswerConflict: refusal(
    'conflict',
    'look at it again: walkback saga show says what was answered, and what is asked now',
  ),
  OperationConflict: refusal(
    'conflict',
    'look at it again: walkback saga show says what became of the step, and who decided it',
  ),
  ApprovalPending: laterMaybe(
    refusal(
      'conflict',
      'nobody has decided yet: walkback saga approve, or the same call again, which goes on waiting',
    ),
  ),
  ApprovalExpired: refusal('conflict', 'it is too late to answer: start the saga again'),
  ApprovalDeclined: refusal('conflict', 'a person said no, and what was done is undone'),
  ArgumentsChanged: refusal('conflict', 'what was approved is not what would be done now: start again'),
  SagaNotInteractive: refusal('conflict', 'it has a plan: walkback saga show says where it stands'),
  SagaClosed: refusal('conflict', 'start another saga'),
  SagaUnwinding: refusal(
    'conflict',
    'wait until it is undone, then start another saga; one that is rewound goes on',
  ),
  SagaParked: refusal('conflict', 'resume it: walkback saga resume, or a step of another session'),
  StepInProgress: laterMaybe(
    refusal('conflict', 'submit the step before again to wait for it, then this one'),
  ),
  StepConflict: refusal('conflict', 'repeat the first request unchanged, or choose another step id'),
  OperationRefused: refusal('conflict', 'walkback saga show says where the saga stands'),
  PointOfNoReturn: refusal(
    'conflict',
    '--accept-residue with --reason (acceptResidue and a reason) leaves standing what the message names',
  ),
  ResidueChanged: refusal('conflict', 'make the plan again, and look at what nothing takes back by now'),
  ResourceBusy: laterMaybe(
    refusal('conflict', 'another saga works on the resource: start this one again when that has ended'),
  ),
  ArgumentsUnresolved: refusal('usage', 'correct the expression, or the input it reads'),
} as const satisfies Record<string, ErrorRow>;

/** Errors of a step, recorded in the ledger. Tools add names of their own. */
const STEP_ERRORS = {
  InvalidArguments: refusal('usage', 'correct the arguments that the message names'),
  InvalidResult: fault('failed', 'correct the tool: its answer does not match its own schema'),
  ResultTooLarge: fault('failed', 'correct the tool: it must answer less, a reference for example'),
  DeadlinePassed: laterMaybe(
    fault(
      'unavailable',
      'call again; when it repeats, see whether the machine where the tool runs has too much to do and its clock is right, or give the tool or the step a longer `timeoutSeconds`',
    ),
  ),
  Fenced: refusal('conflict', 'the step is compensated already: start another saga'),
  ToolUnavailable: laterMaybe(fault('unavailable', 'call again later')),
  ConnectionLost: laterMaybe(
    fault('unavailable', 'look whether the tool runs, and whether it answers in time'),
  ),
  DeliveredTwice: fault('failed', 'nothing to do: the saga asks what became of the first delivery'),
  OutcomeUnknown: fault('failed', 'ask the provider, by the idempotency key, what happened'),
  ProbeUnknown: fault('failed', 'ask the provider, by the idempotency key, what happened'),
  ToolError: fault('failed', 'the message is what the tool said; give its errors names'),
  NotStorable: fault('failed', 'shorten what the step is given, or pass a reference'),
  TooManyChildren: refusal('usage', 'give the step a shorter list, or use several steps'),
  ChildrenOverdue: fault('failed', 'give the step more time, or its children less to do'),
  ChildUndone: refusal(
    'conflict',
    'walkback saga show of the child that the message names says why it failed',
  ),
  ChildFailed: fault('failed', REPAIR),
  UnwoundByParent: refusal('conflict', 'the saga that runs this one is undone: walkback saga show says why'),
  AmountInvalid: fault('failed', 'correct what the tool declares as its amount, or what it answers'),
  CurrencyInvalid: fault('failed', 'correct what the tool declares as its currency, or what it answers'),
  UrlInvalid: fault('failed', 'correct what the tool declares as its externalUrl, or what it answers'),
  UrlUnresolved: fault('failed', 'correct what the tool declares as its externalUrl'),
  AmountUnresolved: fault('failed', 'correct what the tool declares as its amount or currency'),
  IdleTimeout: refusal('conflict', 'no step came in time, and what was done is undone'),
  Cancelled: refusal('conflict', 'the saga was cancelled, and what was done is undone'),
  Rewound: refusal('conflict', 'the saga was rewound: walkback saga show says what it goes on with'),
  Undone: refusal('conflict', 'an operator had the finished saga undone'),
  CompensationBlocked: fault('failed', REPAIR),
  CompensationFailed: fault('failed', REPAIR),
  LedgerBroken: fault('failed', 'entries were changed, removed or added: compare with the backup'),
} as const satisfies Record<string, ErrorRow>;

/** Errors about who asks. */
const IDENTITY_ERRORS = {
  ProofRequired: answered(401, refusal('usage', 'walkback login signs you in; a caller gives `proof`')),
  ProofInvalid: answered(401, refusal('usage', 'sign in again: walkback login')),
  ProofTooOld: answered(401, refusal('usage', 'sign in again: walkback login')),
  RoleMissing: answered(403, refusal('conflict', 'ask somebody in the group that the message names')),
  SamePerson: answered(403, refusal('conflict', 'ask another person to approve it')),
  IdentityUnavailable: laterMaybe(
    fault('unavailable', 'call again; when it repeats, look at the issuer and at its address'),
  ),
} as const satisfies Record<string, ErrorRow>;

/** Errors of the services below and of our own code. */
const SERVICE_ERRORS = {
  Throttled: answered(429, laterMaybe(fault('unavailable', 'call again a little later'))),
  StorageUnavailable: laterMaybe(fault('unavailable', 'call again a little later')),
  ItemUnreadable: fault(
    'failed',
    'what the message names was changed in the table: restore it from a backup',
  ),
  ConfigurationError: fault('configuration', 'set up what the message names'),
  InternalError: fault('failed', "call again; if it repeats, look into the function's log"),
} as const satisfies Record<string, ErrorRow>;

/** Errors of the HTTP API and of the console behind it. */
const API_ERRORS = {
  NoSuchRoute: refusal('notFound', 'GET /openapi.json names every route'),
  MethodNotAllowed: answered(405, refusal('usage', 'use the method that the header Allow names')),
  RequestTooLarge: answered(413, refusal('usage', 'send less: the message says how much it may be')),
  AnswerTooLarge: answered(
    413,
    refusal('usage', 'ask for less: a smaller limit, one repository, a shorter range'),
  ),
  StillRunning: answered(
    202,
    laterMaybe(
      refusal(
        'unavailable',
        'send the same request again: one with a request id is joined, one without begins anew, so ask for less',
      ),
    ),
  ),
} as const satisfies Record<string, ErrorRow>;

/** Errors of the command line only. */
const COMMAND_ERRORS = {
  CloudUnavailable: laterMaybe(
    fault('unavailable', 'check that walkback up runs, or that the network is there'),
  ),
  DataDirInUse: laterMaybe(
    refusal('unavailable', 'another command works there: wait for it, or choose another --data'),
  ),
  CheckpointIncomplete: refusal(
    'notRestorable',
    'it was taken: correct what is missing, and take another; --allow-partial goes back to it as it is',
  ),
  OnlyCandidates: refusal(
    'failed',
    'it is one of those that are listed: give a command that can judge those that were skipped',
  ),
  NotConfirmed: refusal('failed', 'answer yes, or pass --yes'),
  RewindUnfinished: laterMaybe(
    refusal('unavailable', 'the same command with its --request goes on, or says how far it is'),
  ),
  ProofFailed: fault('failed', 'the output above says what differs'),
  Interrupted: laterMaybe(refusal('interrupted', 'give the same command again')),
} as const satisfies Record<string, ErrorRow>;

export const ERRORS = {
  ...CHECKPOINT_ERRORS,
  ...SAGA_ERRORS,
  ...STEP_ERRORS,
  ...IDENTITY_ERRORS,
  ...SERVICE_ERRORS,
  ...API_ERRORS,
  ...COMMAND_ERRORS,
} as const;

export type ErrorName = keyof typeof ERRORS;

const ROWS: Readonly<Record<string, ErrorRow>> = ERRORS;

/** The row of a name given as text, or undefined when the name is not ours. */
export const errorRow = (name: string): ErrorRow | undefined =>
  Object.hasOwn(ERRORS, name) ? ROWS[name] : undefined;

export const isErrorName = (name: string): name is ErrorName => Object.hasOwn(ERRORS, name);

export const ERROR_NAMES: readonly ErrorName[] = Object.keys(ERRORS).filter(isErrorName);

/** No alarm rings for it. */
export const isRefusal = (name: string): boolean => errorRow(name)?.kind === 'refusal';

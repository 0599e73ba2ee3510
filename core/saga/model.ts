import type { Json, JsonObject } from '../../contract/json.ts';
import type { SagaStatus } from '../../contract/saga-answers.ts';
export type JsonSchema = { [name: string]: unknown };

/**
 * What a tool does to the world. `read`: nothing. `compensatable`: its compensator takes it back. `partial`: the
 * compensator takes back a part, and says which part stays. `irreversible`: nothing takes it back.
 */
export type EffectKind = 'read' | 'compensatable' | 'partial' | 'irreversible';

/** `maxAttempts` counts the first one, and none that never reached the tool. The n-th pause is `min(maxBackoff, backoff * rate^(n-1))` seconds. */
export interface RetryPolicy {
  maxAttempts: number;
  backoffSeconds: number;
  backoffRate: number;
  maxBackoffSeconds: number;
}

/** How long a compensator is tried. Sagas of older releases have attempts only, and keep them. */
export interface CompensationRetry extends RetryPolicy {
  /** This part of each pause, 0 to 1, is left out at random, so that sagas that failed together do not come back together. */
  jitter?: number;
  /** Not undone so long after the first attempt: people are told, and the other compensators go on meanwhile. */
  delayedAfterSeconds?: number;
  /** Not undone so long after the first attempt: it is given up, and a person decides. */
  giveUpAfterSeconds?: number;
}

interface CompensationPolicy {
  /** Name of the compensating tool, for people: `void_refund`. */
  name: string;
  timeoutSeconds: number;
  retry: CompensationRetry;
}

/** What a saga needs to know of a tool to run it. Pinned in the saga when it starts. */
interface ToolPolicy {
  effect: EffectKind;
  /** Lambda function name, ARN or ARN with qualifier. */
  functionName: string;
  /** Absolute URL of a tool that is an HTTP endpoint; the built-in function calls it. */
  endpoint?: string;
  timeoutSeconds: number;
  retry: RetryPolicy;
  /** How long the provider recognises the key; 0: not at all. */
  idempotencyWindowSeconds: number;
  /** The provider answers a stored error again for the same key, so repeating it is useless. */
  replaysErrors: boolean;
  /** The tool can ask the provider whether a key took effect. */
  probe: boolean;
  compensation?: CompensationPolicy;
  /** JSONata over the arguments. Effects on one resource are undone strictly one after the other. */
  resourceKey?: string;
}

/** One version of a tool in the catalog; immutable once stored. */
export interface ToolManifest extends ToolPolicy {
  name: string;
  version: string;
  description: string;
  /** JSON Schemas of one bundle: forward input and output, and what the compensator and the probe are given. */
  schemas: { input: JsonSchema; output: JsonSchema; compensation?: JsonSchema };
}

interface Approval {
  timeoutSeconds: number;
  /** What the approver is asked. */
  prompt?: string;
}

export interface PlanStep {
  id: string;
  tool: string;
  /** Exact version; the newest when absent. Pinned at start either way. */
  version?: string;
  /** JSON; strings of the form `{% expression %}` are JSONata over `input` and `steps.<id>.result`. */
  arguments: JsonObject;
  /** The step waits for a person before it starts. */
  approval?: Approval;
}

export interface Plan {
  steps: PlanStep[];
}

/** A stored template; immutable per version. */
export interface SagaDefinition {
  name: string;
  version: string;
  description: string;
  /** `YYYY-MM-DD`: after this day the template shows up as due for review. */
  reviewBy: string;
  input: JsonSchema;
  plan: Plan;
}

/** A step as the saga runs it: nothing in it changes after the start (S8, S10). */
export interface PinnedStep extends ToolPolicy {
  index: number;
  id: string;
  tool: string;
  version: string;
  arguments: JsonObject;
  /** Indexes of the earlier steps whose results the arguments use. */
  uses: number[];
  /** Of the tool's input schema in the catalog, when results must come before the arguments can be held against it. */
  inputSchemaHash?: string;
  approval?: Approval;
}

// --- what happened -----------------------------------------------------------------------------------------

export interface SagaError {
  name: string;
  message: string;
}

export interface Failure {
  /** Null when the saga was cancelled between steps. */
  step: string | null;
  tool: string | null;
  error: SagaError;
  outcome: 'rejected' | 'unknown' | 'cancelled';
}

interface StepFact {
  stepIndex: number;
  step: string;
  tool: string;
  version: string;
  epoch: number;
}

interface AttemptFact extends StepFact {
  attempt: number;
  idempotencyKey: string;
}

interface CommittedFact extends AttemptFact {
  status: 'committed';
  result: Json;
  externalRef?: string;
  /** It took effect, and the answer breaks the tool's contract (`ResultTooLarge`, `InvalidResult`). */
  error?: SagaError;
}

interface Refused {
  /** The call never came to the tool: it uses up no attempt. */
  reached?: false;
  /** What the refusal asked for. */
  retryAfterSeconds?: number;
}

/** How far a compensator came that is put aside and tried again later. */
export interface UndoProgress {
  /** Number of the last attempt. */
  attempts: number;
  /** Of these, the ones that never reached the tool. */
  unreached: number;
  /** First attempt. */
  sinceMs: number;
  /** Next attempt. */
  untilMs: number;
}

/** One thing that happened. `direction` and `status` name it in the ledger; the rest depends on them. */
export type Fact =
  | {
      direction: 'saga';
      status: 'started';
      planHash: string;
      inputHash: string;
      stepCount: number;
      definition?: string;
      /** As in the head, so that it can be held against the chain; entries of older releases do not say. */
      requestHash?: string;
      sessionId?: string;
    }
  | { direction: 'saga'; status: 'resumed'; generation: number; reason: string }
  | { direction: 'saga'; status: 'cancel_requested'; evidence?: string }
  | { direction: 'saga'; status: 'paused'; untilMs: number; reason: string }
  | { direction: 'saga'; status: 'unwinding'; failure: Failure }
  | { direction: 'saga'; status: 'completed' | 'compensated' | 'compensation_failed' }
  | ({
      direction: 'approval';
      status: 'requested';
      untilMs: number;
      prompt?: string;
      /** What is approved, and nothing else; entries of older versions do not say. */
      arguments?: JsonObject;
      argumentsHash?: string;
    } & StepFact)
  | ({ direction: 'approval'; status: 'approved' | 'declined' | 'expired'; note?: string } & StepFact)
  | ({
      direction: 'forward';
      status: 'started';
      effect: EffectKind;
      deadlineMs: number;
      argumentsHash: string;
      /** First attempt only; later ones have the same hash. */
      arguments?: JsonObject;
      resourceKey?: string;
      /** When the provider forgets the key; absent for a provider that never knew it. */
      keyExpiresMs?: number;
    } & AttemptFact)
  | ({ direction: 'forward' } & CommittedFact)
  | ({ direction: 'probe' } & CommittedFact)
  | ({ direction: 'forward'; status: 'rejected'; error: SagaError; final: boolean } & Refused & AttemptFact)
  | ({
      direction: 'forward';
      status: 'unknown';
      error: SagaError;
      answered: boolean;
      externalRef?: string;
    } & AttemptFact)
  | ({ direction: 'probe'; status: 'started'; deadlineMs: number } & AttemptFact)
  | ({ direction: 'probe'; status: 'absent' | 'unknown'; error?: SagaError } & Refused & AttemptFact)
  | ({
      direction: 'undo';
      status: 'started';
      deadlineMs: number;
      /** Of the call that it takes back, null without one; later attempts and older versions do not say. */
      resourceKey?: string | null;
    } & AttemptFact)
  | ({ direction: 'undo'; status: 'committed'; externalRef?: string; residue?: string } & AttemptFact)
  | ({ direction: 'undo'; status: 'rejected' | 'unknown'; error: SagaError } & Refused & AttemptFact)
  | ({ direction: 'undo'; status: 'delayed'; error: SagaError } & UndoProgress & StepFact)
  | ({ direction: 'undo'; status: 'failed'; error: SagaError } & StepFact)
  | ({ direction: 'undo'; status: 'blocked'; error: SagaError; resourceKey?: string | null } & StepFact)
  | ({ direction: 'operator'; status: 'retried' | 'resolved' | 'skipped'; evidence?: string } & StepFact);

/** A fact in its place in the ledger. Hashes are lower-case hex SHA-256. */
export type LedgerEntry = Fact & {
  sagaId: string;
  seq: number;
  /** ISO 8601, UTC. */
  at: string;
  /** `engine`, or who asked. */
  actor: string;
  prevHash: string;
  hash: string;
};

// --- the state folded from them ----------------------------------------------------------------------------

/**
 * `started`: in flight or in doubt. `unknown`: given up on, may have happened. `rejected`: nothing happened.
 * `undone`, `resolved` (by hand) and `skipped` need nothing more; `undo_delayed` is tried again; `undo_failed` and `blocked`
 * need a person.
 */
export type EffectStatus =
  | 'started'
  | 'committed'
  | 'rejected'
  | 'unknown'
  | 'undone'
  | 'undo_delayed'
  | 'undo_failed'
  | 'blocked'
  | 'resolved'
  | 'skipped';

/** One step that was started, in order of start (S5). */
export interface EffectRecord {
  step: number;
  epoch: number;
  kind: EffectKind;
  status: EffectStatus;
  /** Ledger sequence of its first `started` entry: arguments are there. */
  startSeq: number;
  /** Ledger sequence of its `committed` entry: result and reference are there. */
  endSeq: number | null;
  /** Its compensator was put aside at least once. */
  undo?: UndoProgress;
  /**
   * Its compensator did not work: what stands for its resource key here (`resourceMark`), '' without one. Absent when an
   * older version wrote it; then the start entry says.
   */
  resource?: string;
}

/** The operation that is in flight or being settled. At most one: the straight line has one hand. */
export interface Operation {
  /** Index into `effects`. */
  effect: number;
  direction: 'forward' | 'probe' | 'undo';
  /** Attempt of the forward call or of the compensator. */
  attempt: number;
  /** Probes made since the last forward attempt. */
  probes: number;
  stage: 'invoking' | 'retry' | 'doubt';
  /** Whose execution was told to invoke it: to any other it is in doubt. */
  generation: number;
  deadlineMs: number;
  /** First use of the key. */
  firstMs: number;
  /** Some forward attempt may have taken effect. */
  doubted: boolean;
  /** The last unknown outcome was an answer of the provider, not a lost one. */
  answered: boolean;
  probed: 'absent' | 'unknown' | null;
  argumentsHash: string;
  error: SagaError | null;
  /** Attempts that never reached the tool; absent: none. */
  unreached?: number;
  /** The same of the probes since the last forward attempt. */
  unreachedProbes?: number;
  /** Since then nothing has reached the tool. */
  unreachedSinceMs?: number;
  /** Of a compensator: see `EffectRecord.resource`. */
  resource?: string;
  /** An operator wants the next attempt now. */
  hurried?: true;
}

export interface SagaState {
  status: SagaStatus;
  phase: 'forward' | 'undo' | 'done';
  /** Counts rewinds; part of the key from the first rewind on. */
  epoch: number;
  /** Which execution drives the saga; older ones are refused (S11). */
  generation: number;
  /** Executions started since the last progress. */
  resumes: number;
  stepCount: number;
  /** Index of the next step to start. */
  cursor: number;
  effects: EffectRecord[];
  operation: Operation | null;
  /** What the saga waits for. Later kinds: `next-step`, `children`. */
  wait: { kind: 'approval'; step: number; untilMs: number; argumentsHash?: string } | null;
  pauseUntilMs: number | null;
  /** The gate of this step is open. */
  approvedStep: number | null;
  /** Of the arguments that were approved for it. */
  approvedHash?: string;
  cancelRequested: boolean;
  failure: Failure | null;
}

export const TERMINAL_STATUSES = ['COMPLETED', 'COMPENSATED', 'COMPENSATION_FAILED'] as const;

/** Driven by an execution: such a saga moves by itself, or something is wrong. */
export const MOVING_STATUSES: readonly SagaStatus[] = ['RUNNING', 'COMPENSATING', 'PAUSED'];

const isMoving = (status: SagaStatus): boolean => MOVING_STATUSES.includes(status);

/** From one status in which it moves to another: `statusSince` stays. */
export const isSameTurn = (before: SagaStatus, after: SagaStatus): boolean =>
  before === after || (isMoving(before) && isMoving(after));

/** One item per saga: the folded state, and the tip of the chain. */
export interface SagaHead {
  sagaId: string;
  /** Optimistic lock (S9). */
  version: number;
  /** Sequence number of the next entry. */
  seq: number;
  /** Hash of the last entry. */
  tip: string;
  state: SagaState;
  /** Hash of the start request: the same id with another request is refused. */
  requestHash: string;
  planHash: string;
  inputHash: string;
  definition?: string;
  sessionId?: string;
  requestedBy: string;
  /** Events in the history of the current execution, estimated. */
  historyEvents: number;
  createdAt: string;
  updatedAt: string;
  /** When the status last changed; from one in which it moves to another it stays, or a saga that pauses would never grow old. */
  statusSince: string;
}

/** What was pinned at the start, immutable: steps are found by `planHash`, the input by `inputHash`. */
export interface PinnedSaga {
  sagaId: string;
  planHash: string;
  inputHash: string;
  input: Json;
  steps: PinnedStep[];
}

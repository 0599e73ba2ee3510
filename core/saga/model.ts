import type { Json, JsonObject } from '../../contract/json.ts';
import type { SagaStatus } from '../../contract/saga-answers.ts';
export type JsonSchema = { [name: string]: unknown };

/**
 * A tool's effect on the world. `read`: none. `compensatable`: its compensator takes it back. `partial`:
 * the compensator takes back a part, and says which part stays. `irreversible`: nothing takes it back.
 */
export type EffectKind = 'read' | 'compensatable' | 'partial' | 'irreversible';

/**
 * `maxAttempts` counts the first attempt, but not those that never reached the tool. The n-th pause is
 * `min(maxBackoff, backoff * rate^(n-1))` seconds.
 */
export interface RetryPolicy {
  maxAttempts: number;
  backoffSeconds: number;
  backoffRate: number;
  maxBackoffSeconds: number;
}

/**
 * How long a compensator is retried. Sagas of older releases have only a number of attempts, and keep it.
 */
export interface CompensationRetry extends RetryPolicy {
  /**
   * Share of each pause, 0 to 1, that is randomly left out, so that sagas that failed together do not retry
   * together.
   */
  jitter?: number;
  /**
   * Seconds after the first attempt. If the effect is not undone by then, people are told, and the other
   * compensators go on.
   */
  delayedAfterSeconds?: number;
  /**
   * Seconds after the first attempt. If the effect is not undone by then, the saga gives up and a person
   * decides.
   */
  giveUpAfterSeconds?: number;
}

interface CompensationPolicy {
  /** Name of the compensating tool, for people: `void_refund`. */
  name: string;
  timeoutSeconds: number;
  retry: CompensationRetry;
}

/** The parts of a tool that a saga needs to run it. Pinned in the saga when it starts. */
interface ToolPolicy {
  effect: EffectKind;
  /** Lambda function name, ARN or ARN with qualifier. */
  functionName: string;
  /** Absolute URL of a tool that is an HTTP endpoint; the built-in function calls it. */
  endpoint?: string;
  timeoutSeconds: number;
  retry: RetryPolicy;
  /** How long the provider recognises the key. 0: not at all. */
  idempotencyWindowSeconds: number;
  /** The provider repeats a stored error for the same key, so trying again is useless. */
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
  /**
   * JSON Schemas in one bundle: forward input and output, and the inputs of the compensator and the probe.
   */
  schemas: { input: JsonSchema; output: JsonSchema; compensation?: JsonSchema };
}

interface Approval {
  timeoutSeconds: number;
  /** The question that the approver sees. */
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
  /**
   * Hash of the tool's input schema in the catalog. Set when the arguments use results, so that they can be
   * checked only later.
   */
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
  /** It took effect, but the answer breaks the tool's contract (`ResultTooLarge`, `InvalidResult`). */
  error?: SagaError;
}

interface Refused {
  /** The call never reached the tool, so it uses up no attempt. */
  reached?: false;
  /** Pause that the refusal asked for. */
  retryAfterSeconds?: number;
}

/** Progress of a compensator that is put aside and tried again later. */
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

/**
 * One recorded event of a saga. `direction` and `status` name it in the ledger; the other members depend on
 * them.
 */
export type Fact =
  | {
      direction: 'saga';
      status: 'started';
      planHash: string;
      inputHash: string;
      stepCount: number;
      definition?: string;
      /**
       * As in the head, so that the head can be checked against the chain. Absent in entries of older
       * releases.
       */
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
      /** Exactly the arguments that are approved. Absent in entries of older versions. */
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
      /**
       * Resource key of the call that it takes back, or null without one. Absent in later attempts and
       * older versions.
       */
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
 * `started`: in flight or in doubt. `unknown`: given up, may have happened. `rejected`: nothing happened.
 * `undone`, `resolved` (by hand) and `skipped` need nothing more. `undo_delayed` is tried again.
 * `undo_failed` and `blocked` need a person.
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
   * Set when its compensator did not work: the mark of its resource key (`resourceMark`), '' without one.
   * Absent when an older version wrote it; the start entry then has the key.
   */
  resource?: string;
}

/**
 * The operation that is in flight or being settled. There is at most one, because steps run one after the
 * other.
 */
export interface Operation {
  /** Index into `effects`. */
  effect: number;
  direction: 'forward' | 'probe' | 'undo';
  /** Attempt of the forward call or of the compensator. */
  attempt: number;
  /** Probes made since the last forward attempt. */
  probes: number;
  stage: 'invoking' | 'retry' | 'doubt';
  /** The generation of the execution that was told to invoke it. For any other execution it is in doubt. */
  generation: number;
  deadlineMs: number;
  /** First use of the key. */
  firstMs: number;
  /** Some forward attempt may have taken effect. */
  doubted: boolean;
  /** The last unknown outcome was an answer of the provider, not a lost answer. */
  answered: boolean;
  probed: 'absent' | 'unknown' | null;
  argumentsHash: string;
  error: SagaError | null;
  /** Attempts that never reached the tool. Absent: none. */
  unreached?: number;
  /** The same of the probes since the last forward attempt. */
  unreachedProbes?: number;
  /** Since this moment, nothing has reached the tool. */
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
  /** The execution that drives the saga. Older ones are refused (S11). */
  generation: number;
  /** Executions started since the last progress. */
  resumes: number;
  stepCount: number;
  /** Index of the next step to start. */
  cursor: number;
  effects: EffectRecord[];
  operation: Operation | null;
  /** The reason why the saga waits. Later kinds: `next-step`, `children`. */
  wait: { kind: 'approval'; step: number; untilMs: number; argumentsHash?: string } | null;
  pauseUntilMs: number | null;
  /** The gate of this step is open. */
  approvedStep: number | null;
  /** Hash of the arguments that were approved for it. */
  approvedHash?: string;
  cancelRequested: boolean;
  failure: Failure | null;
}

export const TERMINAL_STATUSES = ['COMPLETED', 'COMPENSATED', 'COMPENSATION_FAILED'] as const;

/** Statuses in which an execution drives the saga. Such a saga moves by itself, or something is wrong. */
export const MOVING_STATUSES: readonly SagaStatus[] = ['RUNNING', 'COMPENSATING', 'PAUSED'];

const isMoving = (status: SagaStatus): boolean => MOVING_STATUSES.includes(status);

/** Whether both are moving statuses; then `statusSince` stays. */
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
  /**
   * When the status last changed. It stays when one moving status follows another; otherwise a saga that
   * pauses would never seem old.
   */
  statusSince: string;
}

/**
 * The parts pinned at the start. They never change. Steps are found by `planHash`, the input by
 * `inputHash`.
 */
export interface PinnedSaga {
  sagaId: string;
  planHash: string;
  inputHash: string;
  input: Json;
  steps: PinnedStep[];
}

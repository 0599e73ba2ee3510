/** The state of a saga, folded from its facts. */
import type { SagaStatus } from '../../../contract/saga-observation.ts';
import type { ChildrenWait } from './children.ts';
import type { InteractivePolicy } from './interactive.ts';
import type { Failure, SagaError, UndoProgress } from './ledger-entry.ts';
import type { EffectKind } from './tool.ts';

/**
 * States of an effect.
 *
 * - `started`: in flight or in doubt.
 * - `unknown`: given up; it may have happened.
 * - `rejected`: nothing happened.
 * - `undone`, `resolved` (by hand) and `skipped` need nothing more.
 * - `undo_delayed` is tried again.
 * - `undo_failed` and `blocked` need a person.
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
   * Those of children are in their ledgers.
   */
  resource?: string;
  /** The effect belongs to children: undoing it unwinds them. */
  children?: true;
  /** Children that failed and were undone, although the step committed. */
  branchesFailed?: number;
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
  /** Calls that used up no attempt: they never reached the tool, or their caller was lost. Absent: none. */
  unreached?: number;
  /** Such calls among the probes since the last forward attempt. */
  unreachedProbes?: number;
  /** Since this moment, no call has used up an attempt. */
  unreachedSinceMs?: number;
  /** For a compensator: see `EffectRecord.resource`. */
  resource?: string;
  /** An operator wants the next attempt now. */
  hurried?: true;
}

/** A rewind that was asked for and is not finished (L6). */
interface OpenRewind {
  requestId: string;
  /** Index into `effects`: this effect and all later ones are taken back. */
  floor: number;
  /** Index of the step at which the saga goes on. */
  cursor: number;
  /** Effects that nothing takes back may stay. */
  acceptResidue?: true;
  /** The plan that the saga goes on with, when it is another one. */
  plan?: { planHash: string; stepCount: number };
}

/** A plan that holds from step `from` on, since the rewind that began this epoch. */
export interface ReplacedPlan {
  epoch: number;
  from: number;
  planHash: string;
  stepCount: number;
}

/** The reason why a saga waits. */
export type Wait =
  | { kind: 'approval'; step: number; untilMs: number; argumentsHash: string }
  /** For the next step of an interactive saga. `asked`: the idle time is over, and people were asked. */
  | { kind: 'next-step'; untilMs: number; asked?: true }
  /** Put aside until somebody resumes it. `sessionId`: the session that worked on it. */
  | { kind: 'parked'; sessionId?: string; untilMs: null }
  | ChildrenWait
  /**
   * Waits for locks that other roots hold. `untilMs`: the saga gives up then, so that no two wait for each
   * other (L9). Null: it waits as long as it takes.
   */
  | { kind: 'resource'; step: number; semaphores: string[]; untilMs: number | null }
  /** For a slot of its project. No execution runs meanwhile. */
  | { kind: 'slot'; semaphores: string[]; untilMs: null };

/** Between two steps of an interactive saga. No execution drives it. */
export const isIdle = (wait: Wait | null): boolean => wait?.kind === 'next-step' || wait?.kind === 'parked';

/** Index of the step that waits for an approval. */
export const approvalStep = (wait: Wait | null): number | undefined =>
  wait?.kind === 'approval' ? wait.step : undefined;

/** When the wait or pause ends by itself. A wait for children has no such time. */
export const waitEndMs = ({ wait, pauseUntilMs }: Pick<SagaState, 'wait' | 'pauseUntilMs'>): number | null =>
  (wait === null || wait.kind === 'children' ? null : wait.untilMs) ?? pauseUntilMs;

export interface SagaState {
  status: SagaStatus;
  phase: 'forward' | 'undo' | 'done';
  /** Counts rewinds; part of the key from the first rewind on. */
  epoch: number;
  /** The execution that drives the saga. Older ones are refused (S11). */
  generation: number;
  /** Executions started since the last progress. */
  resumes: number;
  /** Steps of the plan that was pinned at the start. `stepCountOf` says how many there are now. */
  stepCount: number;
  /** Index of the next step to start. */
  cursor: number;
  effects: EffectRecord[];
  operation: Operation | null;
  wait: Wait | null;
  pauseUntilMs: number | null;
  /** Index of the step whose approval was given. */
  approvedStep: number | null;
  /** Hash of the arguments that were approved for that step. */
  approvedHash?: string;
  cancelRequested: boolean;
  /** An operator had it undone after it was completed. */
  undoRequested?: true;
  rewind?: OpenRewind;
  /** Plans that rewinds brought, oldest first. */
  plans?: ReplacedPlan[];
  /** Its plan declares a result. */
  output?: true;
  /** A child whose root is completed. */
  sealed?: true;
  failure: Failure | null;
  /** Present when its steps are submitted one by one. */
  interactive?: InteractivePolicy;
  /** The step that was submitted last. */
  submitted?: { index: number; step: string; planHash: string };
  /** A function drives this generation, so it has no execution. */
  inline?: true;
  /** Only effects from this index on are taken back. Then the saga waits for the next step. */
  undoFrom?: number;
  /** The slot that it holds. Null: it needs one before its next step. Absent: its project has no limit. */
  slot?: number | null;
  /** It has not yet taken the locks that are known from its input. */
  locking?: true;
  /**
   * Whether the alert topic took the alert of the failed compensation, as the execution of this generation
   * found. Absent while nobody knows, and when the saga has not failed.
   */
  alert?: { status: 'delivered' | 'refused'; generation: number };
  /** It has taken a lock, so there is something to release at its end. */
  locked?: true;
}

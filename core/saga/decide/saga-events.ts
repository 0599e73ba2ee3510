/** The events of a saga and its next actions: the input and output of `decide`. */
import type { Json, JsonObject } from '../../../contract/json.ts';
import type { SagaStatus } from '../../../contract/saga-observation.ts';
import type { ChildEnd, ChildStatus, EntryLink, NamedChild } from '../model/children.ts';
import type { Fact, LinkedFact, PricedFact, SagaError } from '../model/ledger-entry.ts';
import type { Money } from '../model/money.ts';
import type { Look, Root } from '../model/permit.ts';
import type { PinnedStep, PinnedToolStep } from '../model/plan.ts';

/** Outcome of one operation, as the tool, or the engine on its behalf, reported it (S2). */
export type Outcome =
  | { outcome: 'committed'; result: Json; externalRef?: string; residue?: string; error?: SagaError }
  | {
      outcome: 'rejected';
      error: SagaError;
      retryable: boolean;
      /** The call never reached the tool, so nothing was tried and it uses up no attempt. */
      reached?: false;
      retryAfterSeconds?: number;
    }
  | { outcome: 'unknown'; error: SagaError; answered: boolean; externalRef?: string }
  /** Probes only: the provider knows that it did not happen. */
  | { outcome: 'absent' };

/** Names one attempt, so that a duplicate or late answer is recognised (S9). */
export interface OperationId {
  effect: number;
  direction: 'forward' | 'probe' | 'undo';
  attempt: number;
  probes: number;
}

/** How the lock of a step stands. */
export interface LockLook {
  step: PinnedToolStep;
  semaphore: string;
  resourceKey: string;
  look: Look;
  /** The root that would take the lock or waits in line. */
  root: Root;
  /**
   * An older root is in the way and may in turn wait for this one: because this root holds locks, or has a
   * slot that the other one needs. Then it must not wait for long (L9).
   */
  mayDeadlock: boolean;
}

export interface SlotLook {
  semaphore: string;
  look: Look;
}

export type SagaEvent =
  /**
   * An execution of this generation begins. An operation that an older generation has in flight belongs to
   * a dead execution.
   */
  | { type: 'begin' }
  | {
      type: 'outcome';
      operation: OperationId;
      outcome: Outcome;
      /**
       * The time that the call had. It is shorter than the call's own time when Advance died and came back in
       * the middle.
       */
      givenSeconds?: number;
      /** For a call that committed: what it moved or took back. */
      price?: PricedFact;
      /** The address where people see the effect. */
      link?: LinkedFact;
    }
  /** A pause or a wait of the engine ended, or an answer was not new. The engine asks what to do. */
  | { type: 'continue' }
  | { type: 'answer'; step: number; decision: 'approve' | 'reject'; note?: string }
  /** An answer came too late. */
  | { type: 'expire' }
  | { type: 'undo'; acceptResidue: boolean; evidence?: string }
  | ({ type: 'rewind' } & Omit<Extract<Fact, { status: 'rewind_requested' }>, 'direction' | 'status'>)
  | { type: 'cancel'; evidence?: string; parent?: EntryLink }
  | { type: 'resume'; reason: string }
  /** A step of an interactive saga, pinned at the next index. */
  | {
      type: 'submit';
      step: PinnedStep;
      stepId: string;
      planHash: string;
      requestHash: string;
      sessionId?: string;
      messageId?: string;
      /** The session's epoch in which the step is written. */
      fence?: { sessionId: string; epoch: number };
    }
  /** An interactive saga is closed, and all of it stands. */
  | { type: 'close'; reason?: string; result?: Json }
  | { type: 'park'; summary: string; sessionId?: string; checkpointId?: string; requestId?: string }
  | { type: 'unpark' }
  /** The project has a slot for the saga. */
  | { type: 'admit'; slot: SlotLook }
  | { type: 'break-lock'; semaphore: string; resourceKey: string; evidence: string }
  | { type: 'operate'; action: 'retry' | 'resolve' | 'skip'; effects: number[]; evidence?: string }
  /** The answer of the alert topic to the alert of the failed compensation. */
  | { type: 'alert'; told: { messageId?: string } | { error: SagaError } }
  /** The parent's command: go back to where this child began, even when the child is completed. */
  | { type: 'unwind'; parent: EntryLink }
  | { type: 'seal'; root: EntryLink }
  /** A child whose compensation had failed is undone now. */
  | { type: 'child-settled'; effect: number; child: ChildEnd }
  // Answers to what `decide` asked its caller to prepare:
  | {
      type: 'prepared';
      step: PinnedStep;
      arguments: JsonObject;
      argumentsHash: string;
      resourceKey?: string;
      /** For a step that waits for an approval: what it would move. */
      money?: Money;
      /** For a step that runs children. */
      children?: NamedChild[];
      /** For an exclusive step. */
      lock?: LockLook;
      /** When the saga needs a slot. */
      slot?: SlotLook;
    }
  | { type: 'locks-prepared'; locks: LockLook[]; slot?: SlotLook }
  | { type: 'unprepared'; step: PinnedStep; error: SagaError }
  | {
      type: 'undo-prepared';
      effect: number;
      step: PinnedStep;
      resourceKey?: string;
      blockedBy?: string;
      /** For a step that ran children: how many. */
      children?: number;
    }
  | { type: 'children-seen'; children: SeenChild[] }
  | { type: 'output-prepared'; output: Json }
  | { type: 'output-unprepared'; error: SagaError };

/** A child, as the parent sees it. */
export interface SeenChild {
  branch: string;
  sagaId: string;
  /** Null when it is not there yet. */
  status: ChildStatus | null;
  seq: number;
  tip: string;
  error?: SagaError;
  /** The output of a completed child, once all children have ended. */
  output?: Json;
  resources?: { [mark: string]: number };
}

/** The next action. The first five are for the caller of `decide`, the others for the engine. */
export type Next =
  | { next: 'prepare'; step: number }
  | { next: 'prepare-locks' }
  | { next: 'prepare-undo'; effect: number }
  /** Asks what became of the children that the saga waits for. */
  | { next: 'prepare-children' }
  /** Asks for the declared result of a saga whose steps are done. */
  | { next: 'prepare-output' }
  | { next: 'invoke'; operation: OperationId; deadlineMs: number }
  | { next: 'await'; step: number; untilMs: number }
  | { next: 'pause'; untilMs: number }
  /** Nothing to do for the caller: the execution that drives the saga will see the change. */
  | { next: 'none' }
  /** An interactive saga waits for the next step. No execution is needed until then. */
  | { next: 'idle' }
  /** The function that drives the saga stops here, and the machine takes over. */
  | { next: 'hand-over' }
  | { next: 'escalate' }
  | { next: 'end'; status: SagaStatus };

export interface Surroundings {
  sagaId: string;
  nowMs: number;
  /** The pinned step of the operation in flight or of the wait; required when there is one. */
  currentStep?: PinnedStep;
  /** The event says how locks and slots stand now. */
  hasLooked?: true;
  /** What became of the children that the saga waits for, when the caller has looked. */
  children?: readonly SeenChild[];
  /** Pinned steps of the effects that an operator's action, or a child that settled, is about. */
  effectSteps?: ReadonlyMap<number, PinnedStep>;
  /** A function drives the saga and makes one call of each step. */
  inline?: true;
}

export interface Decision {
  facts: Fact[];
  next: Next;
}

/** One turn of the reducer's own loop: more facts, or the next action. */
export type Step = { facts: Fact[] } | { next: Next };

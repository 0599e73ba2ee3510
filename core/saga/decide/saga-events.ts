/** What may happen to a saga, and what it does next: the two sides of `decide`. */
import type { Json, JsonObject } from '../../../contract/json.ts';
import type { SagaStatus } from '../../../contract/saga-answers.ts';
import type { Fact, PinnedStep, SagaError } from '../model.ts';

/** What a tool, or the engine on its behalf, said of one operation (S2). */
export type Outcome =
  | { outcome: 'committed'; result: Json; externalRef?: string; residue?: string; error?: SagaError }
  | {
      outcome: 'rejected';
      error: SagaError;
      retryable: boolean;
      /** The call never came to the tool: nothing of it was tried, and it uses up no attempt. */
      reached?: false;
      retryAfterSeconds?: number;
    }
  | { outcome: 'unknown'; error: SagaError; answered: boolean; externalRef?: string }
  /** Probes only: the provider knows that it did not happen. */
  | { outcome: 'absent' };

/** Names one attempt, so that an answer that comes twice or late is recognised (S9). */
export interface OperationId {
  effect: number;
  direction: 'forward' | 'probe' | 'undo';
  attempt: number;
  probes: number;
}

export type SagaEvent =
  /** An execution of this generation begins. What an older generation has in flight belongs to a dead one. */
  | { type: 'begin' }
  | { type: 'outcome'; operation: OperationId; outcome: Outcome }
  /** A pause or a wait of the engine ended; or an answer was not new, and the engine asks what to do. */
  | { type: 'continue' }
  | { type: 'answer'; step: number; decision: 'approve' | 'reject'; note?: string }
  | { type: 'cancel'; evidence?: string }
  | { type: 'resume'; reason: string }
  | { type: 'operate'; action: 'retry' | 'resolve' | 'skip'; effects: number[]; evidence?: string }
  // Answers to what `decide` asked its caller to prepare:
  | { type: 'prepared'; step: PinnedStep; arguments: JsonObject; argumentsHash: string; resourceKey?: string }
  | { type: 'unprepared'; step: PinnedStep; error: SagaError }
  | { type: 'undo-prepared'; effect: number; step: PinnedStep; resourceKey?: string; blockedBy?: string };

/** What comes next. The first two are for the caller of `decide`, the others for the engine. */
export type Next =
  | { next: 'prepare'; step: number }
  | { next: 'prepare-undo'; effect: number }
  | { next: 'invoke'; operation: OperationId; deadlineMs: number }
  | { next: 'await'; step: number; untilMs: number }
  | { next: 'pause'; untilMs: number }
  /** Nothing for the caller: the execution that drives the saga will see it. */
  | { next: 'none' }
  | { next: 'escalate' }
  | { next: 'end'; status: SagaStatus };

export interface Surroundings {
  sagaId: string;
  nowMs: number;
  /** The pinned step of the operation in flight or of the wait; required when there is one. */
  currentStep?: PinnedStep;
  /** Pinned steps of the effects an operator's action names. */
  effectSteps?: ReadonlyMap<number, PinnedStep>;
}

export interface Decision {
  facts: Fact[];
  next: Next;
}

/** One turn of the reducer's own loop: more facts, or what is next. */
export type Step = { facts: Fact[] } | { next: Next };

/** What happened: the facts of a saga, and their entries in the ledger. */
import type { AmountDirection } from '../../../contract/amount-direction.ts';
import type { Person } from '../../../contract/identity.ts';
import type { Json, JsonObject } from '../../../contract/json.ts';
import type { ChildEnd, EntryLink, NamedChild, PinnedOutput } from './children.ts';
import type { InteractivePolicy } from './interactive.ts';
import type { EffectKind } from './tool.ts';

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

/** What an effect moved, or its compensator took back. Only tools that declare it have this. */
export interface PricedFact {
  /** An exact decimal, with its currency; both or neither. */
  amount?: string;
  currency?: string;
  /** Which way this money went: for an undo, the other way than the effect. */
  amountDirection?: AmountDirection;
  /** Why there is no amount. It never changes what becomes of the saga. */
  amountProblem?: SagaError;
}

/** Where people see an effect at its provider. Only tools that declare it have this. */
export interface LinkedFact {
  /** An https address. */
  externalUrl?: string;
  /** Why there is no address. It never changes what becomes of the saga. */
  externalUrlProblem?: SagaError;
}

interface CommittedFact extends AttemptFact, PricedFact, LinkedFact {
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

interface Unheard {
  /**
   * The execution or function that was to make the call ended before it had an answer, or came back in the
   * middle of the call's time and the rest ran out. Nothing is known of the tool, so it uses up no attempt.
   */
  callerLost?: true;
}

/** Progress of a compensator that is put aside and tried again later. */
export interface UndoProgress {
  /** Number of the last attempt. */
  attempts: number;
  /** Of these, the ones that used up no attempt. */
  unreached: number;
  /** First attempt. */
  sinceMs: number;
  /** Next attempt. */
  untilMs: number;
}

/** What happens only in interactive sagas. */
type InteractiveFact =
  /** A step was accepted. It is pinned under `planHash` as a plan of one step. */
  | ({
      direction: 'step';
      status: 'submitted';
      planHash: string;
      /** Hash of tool, version and arguments, as the caller asked for them. */
      requestHash: string;
      /** The caller that submits a step drives it, as a new generation. */
      generation: number;
      sessionId?: string;
      messageId?: string;
    } & StepFact)
  /** The step was never started: a person declined it, or its arguments are not valid. */
  | ({ direction: 'step'; status: 'refused'; error: SagaError } & StepFact)
  /** The step may have happened and does not stand. Only its effect is taken back. */
  | ({ direction: 'step'; status: 'unwinding'; effect: number; error: SagaError } & StepFact)
  /** Nothing is left of the effect that was taken back alone, and the saga waits for the next step. */
  | { direction: 'saga'; status: 'step_settled'; effect: number }
  /** No step came in time, and people are asked. */
  | { direction: 'saga'; status: 'idle'; untilMs: number }
  /** The saga was put aside between two steps. */
  | {
      direction: 'saga';
      status: 'parked';
      summary: string;
      sessionId?: string;
      checkpointId?: string;
      /** Lets a repeated request be recognised, even when the saga was resumed since. */
      requestId?: string;
    }
  | { direction: 'saga'; status: 'unparked'; sessionId?: string };

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
      /** As in the head, so that the head can be checked against the chain. */
      requestHash: string;
      sessionId?: string;
      messageId?: string;
      /** The rules of a saga whose steps are submitted one by one; it has no plan. */
      interactive?: InteractivePolicy;
      /** A function drives it, and no execution was started. */
      inline?: true;
      /** For a child: the entry that named it, and the root. */
      parent?: EntryLink;
      root?: string;
      output?: PinnedOutput;
      project?: string;
      maxConcurrent?: number;
      /** Exclusive resources that are known from the input, in the order in which they are taken. */
      locks?: { stepIndex: number; resourceKey: string }[];
    }
  | { direction: 'saga'; status: 'resumed'; generation: number; reason: string }
  | {
      direction: 'saga';
      status: 'undo_requested';
      /** Effects that nothing takes back may stay. */
      acceptResidue?: true;
      evidence?: string;
    }
  | {
      direction: 'saga';
      status: 'rewind_requested';
      requestId: string;
      requestHash: string;
      /** Id of the last step that stays, or null when none does. */
      after: string | null;
      /** See `OpenRewind`. */
      floor: number;
      cursor: number;
      /** What the saga, or the agent behind it, is told for the way on. */
      guidance?: string;
      acceptResidue?: true;
      /** Why these effects may stay. */
      reason?: string;
      /** Another plan from `cursor` on, and the hash of the plan that it replaces. */
      plan?: { planHash: string; stepCount: number; replaces: string };
    }
  /** Forward again, in the next epoch. */
  | { direction: 'saga'; status: 'rewound'; epoch: number }
  | { direction: 'saga'; status: 'cancel_requested'; evidence?: string; parent?: EntryLink }
  /** The parent has a completed child undone. */
  | { direction: 'saga'; status: 'unwind_requested'; parent: EntryLink }
  /** The root is completed, so this child is no longer provisional. */
  | { direction: 'saga'; status: 'sealed'; root: EntryLink }
  | { direction: 'saga'; status: 'paused'; untilMs: number; reason: string }
  | { direction: 'saga'; status: 'unwinding'; failure: Failure }
  | { direction: 'saga'; status: 'completed'; reason?: string; output?: Json }
  | { direction: 'saga'; status: 'compensated' | 'compensation_failed' }
  | InteractiveFact
  | ({
      direction: 'approval';
      status: 'requested';
      untilMs: number;
      prompt?: string;
      /** Exactly the arguments that are approved. */
      arguments: JsonObject;
      argumentsHash: string;
      /** What would be moved, when it follows from the arguments alone. */
      amount?: string;
      currency?: string;
    } & StepFact)
  | ({ direction: 'approval'; status: 'approved' | 'declined' | 'expired'; note?: string } & StepFact)
  | ({
      direction: 'forward';
      status: 'started';
      effect: EffectKind;
      deadlineMs: number;
      argumentsHash: string;
      /** Only in the first attempt; later ones have the same hash. */
      arguments?: JsonObject;
      resourceKey?: string;
      /** When the provider forgets the key; absent for a provider that never knew it. */
      keyExpiresMs?: number;
      /** In the first attempt of a submitted step: the hash under which the step is pinned. */
      planHash?: string;
      /** For a step that runs children, which are created after this is written. `deadlineMs` 0: none. */
      children?: NamedChild[];
      /** Token of the lock on its resource. */
      fencingToken?: number;
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
    } & Unheard &
      AttemptFact)
  | ({ direction: 'probe'; status: 'started'; deadlineMs: number } & AttemptFact)
  | ({ direction: 'probe'; status: 'absent' | 'unknown'; error?: SagaError } & Refused &
      Unheard &
      AttemptFact)
  | ({
      direction: 'undo';
      status: 'started';
      deadlineMs: number;
      /**
       * Resource key of the call that is taken back, or null when it has none. Absent in later attempts.
       */
      resourceKey?: string | null;
      /** For a step that ran children: how many. */
      children?: number;
    } & AttemptFact)
  | ({ direction: 'undo'; status: 'committed'; externalRef?: string; residue?: string } & PricedFact &
      AttemptFact)
  | ({ direction: 'undo'; status: 'rejected' | 'unknown'; error: SagaError } & Refused &
      Unheard &
      AttemptFact)
  | ({ direction: 'undo'; status: 'delayed'; error: SagaError } & UndoProgress & StepFact)
  | ({ direction: 'undo'; status: 'failed'; error: SagaError } & StepFact)
  | ({ direction: 'undo'; status: 'blocked'; error: SagaError; resourceKey: string | null } & StepFact)
  | ({ direction: 'child'; status: 'ended'; child: ChildEnd } & StepFact)
  /** The step's time has run out. */
  | ({ direction: 'child'; status: 'overdue' } & StepFact)
  /** These are told to unwind. */
  | ({ direction: 'child'; status: 'unwinding'; children: number[]; reason: string } & StepFact)
  /** A child whose compensation had failed is undone now, so the parent decides again. */
  | ({ direction: 'child'; status: 'settled'; child: ChildEnd } & StepFact)
  | ({
      direction: 'lock';
      status: 'taken';
      semaphore: string;
      resourceKey: string;
      fencingToken: number;
    } & StepFact)
  | ({
      direction: 'lock';
      status: 'waiting';
      /** All semaphores in whose lines it stands. */
      semaphores: string[];
      /** The resource that another root holds. */
      resourceKey: string;
      /** Id of that root. */
      behind: string;
      /** When its own root began, which decides its place in the line. */
      since: string;
      untilMs: number | null;
    } & StepFact)
  | { direction: 'lock'; status: 'broken'; semaphore: string; resourceKey: string; evidence: string }
  | { direction: 'slot'; status: 'taken'; semaphore: string; number: number; fencingToken: number }
  | { direction: 'slot'; status: 'queued'; semaphore: string }
  /** The alert topic took the alert of the failed compensation. */
  | { direction: 'alert'; status: 'delivered'; messageId?: string }
  | { direction: 'alert'; status: 'refused'; error: SagaError }
  | ({ direction: 'operator'; status: 'retried' | 'resolved' | 'skipped'; evidence?: string } & StepFact);

/** A fact in its place in the ledger. Hashes are lower-case hex SHA-256. */
export type LedgerEntry = Fact & {
  sagaId: string;
  seq: number;
  /** ISO 8601, UTC. */
  at: string;
  /** `engine`, or the name of who asked. */
  actor: string;
  /** Who asked, when a token proved it. Without it, any name but `engine` is a claim. */
  person?: Person;
  prevHash: string;
  hash: string;
};

/** What is stored of work that is under way: rollbacks, rehydrates and review copies. Data only. */
import type { SettledRollback } from '../../contract/answer-fields.ts';
import type { Busy, RehydrateAnswer } from '../../contract/checkpoint-answers.ts';
import type { ErrorName } from '../../contract/errors.ts';
import type { AskedBy } from '../../contract/identity.ts';
import type { RollbackAnswer } from '../../contract/rollback-answers.ts';
import type { Composition } from './model.ts';

/**
 * `started`: nothing was written. `writing`: the command that writes may have been sent, so the sandbox may stand
 * between its undo checkpoint and its target.
 */
type RollbackPhase = 'started' | 'writing' | 'done' | 'failed';

/** A terminal error, stored in a journal so that the same request gets the same answer. */
interface RecordedError {
  name: ErrorName;
  message: string;
}

/** The journal of one rollback. Item `SESSION#<id>` / `ROLLBACK#<requestId>`. */
export interface RollbackJournal {
  sessionId: string;
  requestId: string;
  /** SHA-256 of the request's content. The same id with different content is `RequestConflict`. */
  requestHash: string;
  phase: RollbackPhase;
  /** The session's epoch after this rollback. */
  epoch: number;
  sandboxId: string;
  detached: boolean;
  filesOnly: boolean;
  allowPartial: boolean;
  /** 0 while the state to reach is not composed yet. */
  targetSeq: number;
  /** How that state is composed, when it is not an earlier checkpoint. */
  composition?: Composition;
  /** The first capture of "now", made before anything was written (C3). */
  undoSeq?: number;
  /** Captures made so far; a repeated run makes another one. */
  captures: number;
  /** Who asked for it. Absent when a backend did, which names nobody. */
  by?: AskedBy;
  /** How another call ended this rollback, when its own caller did not come back. */
  settled?: SettledRollback;
  result?: RollbackAnswer;
  error?: RecordedError;
  startedAt: string;
  updatedAt: string;
  expiresAt: number;
}

type RehydratePhase = 'started' | 'created' | 'done' | 'failed';

/** The journal of one rehydrate. Item `SESSION#<id>` / `REHYDRATE#<requestId>`. */
export interface RehydrateJournal {
  sessionId: string;
  requestId: string;
  requestHash: string;
  phase: RehydratePhase;
  mode: 'review' | 'resume';
  targetSeq: number;
  /** Counts the invocations that worked on it; only the newest may finish it or kill its sandbox. */
  attempt: number;
  /**
   * Unix milliseconds until which only the newest attempt may work on it. Absent when no one is working on
   * it.
   */
  heldUntilMs?: number;
  template?: string;
  sandboxTimeoutMs: number;
  sandboxId?: string;
  result?: RehydrateAnswer;
  error?: RecordedError;
  startedAt: string;
  updatedAt: string;
  expiresAt: number;
}

/** Where a review copy stands. Item `SESSION#<id>` / `COPY#<sandboxId>`. */
export interface ReviewCopy {
  sessionId: string;
  sandboxId: string;
  headSeq: number;
  version: number;
  busy?: Busy;
  settledRollback?: SettledRollback;
  expiresAt: number;
}

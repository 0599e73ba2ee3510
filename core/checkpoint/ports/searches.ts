/** Where searches for a fault are kept, so that they can go on (`adapters/aws`). */
import type { TriedCheckpoint } from '../../../contract/bisect.ts';
import type { CheckpointRef } from '../model.ts';

/** One checkpoint that was tried, or is about to be. */
export interface Probe extends CheckpointRef {
  checkpointId: string;
  /** Equal for checkpoints that hold the same. */
  state: string;
  /** Request id of the copy's rehydrate. It is noted before there is a copy, so that no copy is lost. */
  copy: string;
  /** Absent until the command has ended. */
  result?: Omit<TriedCheckpoint, 'sessionId' | 'checkpointId'> & {
    /** Kept only as long as the answer may need it. */
    output?: string;
    isCut?: boolean;
  };
}

/** Item `SESSION#<id>` / `BISECT#<requestId>`. */
export interface SearchJournal {
  sessionId: string;
  requestId: string;
  /** SHA-256 of the request's content. The same id with different content is `RequestConflict`. */
  requestHash: string;
  /** The points as they were found first: the head moves on. */
  good: CheckpointRef;
  bad: CheckpointRef;
  /** Counts the calls that worked on it; only the newest may write. */
  attempt: number;
  probes: Probe[];
  /** Checkpoints that the fault may still be in. */
  left: number;
  startedAt: string;
  updatedAt: string;
  expiresAt: number;
}

export interface SearchStore {
  getSearch(sessionId: string, requestId: string): Promise<SearchJournal | undefined>;
  /** False: there is one with this id. */
  createSearch(journal: SearchJournal): Promise<boolean>;
  /** Replaces the journal if it stands at `expectedAttempt`. False: another call works on it. */
  moveSearch(journal: SearchJournal, expectedAttempt: number): Promise<boolean>;
}

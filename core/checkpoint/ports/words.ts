/** Where the words of sessions are kept for those who search (`adapters/aws`). */

/** Some words of one session, from consecutive checkpoints, packed. Item `SESSION#<id>` / `WORDS#<number>`. */
export interface WordBlock {
  sessionId: string;
  /** From 0. Only the newest block of a session grows. */
  number: number;
  /** Replaced only at the expected version. */
  version: number;
  /** The last checkpoint that it has words of. */
  lastSeq: number;
  /** See core/checkpoint/words/block.ts. */
  packed: Uint8Array;
  /** When it was last written, as an ISO time. */
  updatedAt: string;
  /** Unix seconds: when the last of its checkpoints expires. */
  expiresAt: number;
}

export interface FoundBlocks {
  blocks: WordBlock[];
  /** Blocks written at this ISO time or earlier were not read. Absent: all were. */
  readBackTo?: string;
}

export interface WordStore {
  /** The newest block of a session, as it is now. */
  newestBlock(sessionId: string): Promise<WordBlock | undefined>;
  /** False: another call wrote it first, or this one, whose answer was lost. `expectedVersion` null: there is none yet. */
  putBlock(block: WordBlock, expectedVersion: number | null): Promise<boolean>;
  /** All of one session, as they are now. */
  blocksOf(sessionId: string): Promise<WordBlock[]>;
  /**
   * Those of all sessions, last written first, a bounded number of bytes; eventually consistent. `before`: written at this ISO
   * time or earlier.
   */
  newestBlocks(before?: string): Promise<FoundBlocks>;
}

/** Where sessions, checkpoints and bundles are kept (`adapters/aws`). Every method throws a `WalkbackError`, never a vendor's. */
import type { LineCount } from '../../../contract/answer-fields.ts';
import type { ChainLink, LinkBundle, StoredBase, StoredBundle, StoredUpload } from '../bundles.ts';
import type { RehydrateJournal, ReviewCopy, RollbackJournal } from '../journals.ts';
import type { Checkpoint, Message, Session, WorkProgress } from '../model.ts';

/** Bundles in the bucket. Keys are made by the core. */
export interface BundleStore {
  /** Stores the bytes unless the key exists; the service checks SHA-256. */
  put(key: string, bytes: Uint8Array, sha256: string): Promise<void>;
  /** Size and SHA-256 of a stored object; undefined when there is none. */
  head(key: string): Promise<{ sizeBytes: number; sha256?: string } | undefined>;
  /** Throws `BundleMissing`, or `BundleCorrupt` when the bytes do not hash to `sha256`. */
  get(bundle: LinkBundle): Promise<Uint8Array>;
  /** Throws as `get` does. Reads the bundle as a stream, so its size does not matter. */
  check(bundle: LinkBundle): Promise<void>;
  /** First bytes of an object, to read a bundle's header. */
  getStart(key: string, bytes: number): Promise<Uint8Array>;
  /** A URL that accepts exactly one body: key, length and SHA-256 are signed. */
  presignPut(
    bundle: StoredBundle,
    expiresInSeconds: number,
  ): Promise<{ url: string; headers: Record<string, string> }>;
  /** A URL that answers this bundle alone. The headers are signed, so they must be sent. */
  presignGet(
    bundle: LinkBundle,
    expiresInSeconds: number,
  ): Promise<{ url: string; headers: Record<string, string> }>;
  delete(keys: string[]): Promise<void>;
}

/** Result of a conditional write: done, or refused by its condition, with the item that stood there. */
export type WriteOutcome<T> = { written: true } | { written: false; existing?: T };

/**
 * The timeline that a rollback moves: the session's own, or a review copy's. Replaced only at the expected
 * version.
 */
export type TimelineMove =
  | { session: Session; expectedVersion: number }
  | { copy: ReviewCopy; expectedVersion: number };

/** Sequence number, parent, message and time of a checkpoint: enough to build the tree. */
export type TreeNode = Pick<
  Checkpoint,
  | 'seq'
  | 'parentSeq'
  | 'messageId'
  | 'messageOrder'
  | 'unowned'
  | 'checkpointId'
  | 'reason'
  | 'complete'
  | 'detached'
  | 'mergedFrom'
  | 'takesBack'
  | 'forkedFrom'
  | 'halfWritten'
  | 'createdAt'
>;

/** What a list of checkpoints shows about one, without details of single repositories. */
export type CheckpointOutline = TreeNode &
  Pick<Checkpoint, 'epoch' | 'toolExecutionId' | 'sandboxId' | 'by'> & {
    lines: LineCount;
    /** Name of the tool call that it was taken before. */
    tool?: string;
  };

/** A checkpoint that is needed longer, and the objects that it alone needs. */
export interface KeptCheckpoint {
  checkpoint: Pick<Checkpoint, 'sessionId' | 'seq' | 'toolExecutionId'>;
  expiresAt: number;
  uploads: readonly StoredUpload[];
}

/** Items of one session that are wanted at the same time. */
interface WantedItems {
  session?: true;
  /** Only which checkpoint it has. */
  toolExecutionId?: string;
  seqs?: readonly number[];
  messageId?: string;
  /** Request id. */
  rollback?: string;
}

/** Those that are there. */
export interface FoundItems {
  session?: Session;
  toolSeq?: number;
  checkpoints: ReadonlyMap<number, Checkpoint>;
  message?: Message;
  rollback?: RollbackJournal;
}

/** The Sessions table. All reads are strongly consistent unless stated otherwise. */
export interface SessionStore {
  getSession(sessionId: string): Promise<Session | undefined>;
  /** By one request. As with single reads, each item is as it is now, and another may change meanwhile. */
  getItems(sessionId: string, wanted: WantedItems): Promise<FoundItems>;
  /** Create-only. */
  createSession(session: Session, baseline: Checkpoint): Promise<WriteOutcome<Session>>;
  /** Replaces the session item if its version is `expectedVersion`. */
  updateSession(session: Session, expectedVersion: number): Promise<WriteOutcome<Session>>;
  /**
   * For people: in any order and eventually consistent. May answer fewer than `limit`, even none, when the
   * items are large or far apart. There are more as long as there is a cursor.
   */
  listSessions(limit: number, cursor?: string): Promise<{ sessions: Session[]; cursor?: string }>;

  /**
   * One transaction (C1). The session moves on from `expectedVersion`. The checkpoint and its tool
   * execution are created. The message, the journal (if it is still open, or with `begins` new) and the
   * review copy are created or moved. The links are stored or prolonged as `putLinks` does; those that are too many for one
   * transaction, before it. `written: false` when any of these conditions does not hold.
   */
  commitCheckpoint(write: {
    session: Session;
    expectedVersion: number;
    checkpoint: Checkpoint;
    message?: Message;
    journal?: RollbackJournal;
    /** The journal is created: the rollback begins with this checkpoint. */
    begins?: boolean;
    copy?: { copy: ReviewCopy; expectedVersion: number };
    links?: readonly ChainLink[];
  }): Promise<WriteOutcome<Session>>;
  /** Replaces what was told before. */
  putProgress(progress: WorkProgress): Promise<void>;
  getProgress(sessionId: string): Promise<WorkProgress | undefined>;
  getCheckpoint(sessionId: string, seq: number): Promise<Checkpoint | undefined>;
  findCheckpointByTool(sessionId: string, toolExecutionId: string): Promise<Checkpoint | undefined>;
  /** Newest first. Answers fewer than `limit` when these reach `maxBytes` earlier. */
  listCheckpoints(
    sessionId: string,
    options: { limit: number; maxBytes?: number; beforeSeq?: number },
  ): Promise<Checkpoint[]>;
  /** Every checkpoint of the session, oldest first. */
  listTree(sessionId: string): Promise<TreeNode[]>;
  /** The same, with what a list shows. Undefined when the outlines of some checkpoints expired before them. */
  listOutlines(sessionId: string): Promise<CheckpointOutline[] | undefined>;
  /** Lets a checkpoint live at least until `expiresAt`. Does nothing when it is gone. */
  prolongCheckpoint(
    checkpoint: Pick<Checkpoint, 'sessionId' | 'seq' | 'toolExecutionId'>,
    expiresAt: number,
  ): Promise<void>;
  findMessage(sessionId: string, messageId: string): Promise<Message | undefined>;
  /** In order of first appearance. */
  listMessages(sessionId: string): Promise<Message[]>;

  /** Stores or prolongs, like `putBase`: an existing link is not replaced. */
  putLinks(links: readonly ChainLink[]): Promise<void>;
  listLinks(sessionId: string, chainId: string): Promise<ChainLink[]>;
  getBase(name: string, owner: string): Promise<StoredBase | undefined>;
  /** Stores or prolongs: the first object stays, and `expiresAt` only grows. Answers the stored item. */
  putBase(base: StoredBase): Promise<StoredBase>;
  getUpload(key: string): Promise<StoredUpload | undefined>;
  /** Stores the items. When it fails, some or all of them may be missing. */
  putUploads(uploads: readonly StoredUpload[]): Promise<void>;

  getRollback(sessionId: string, requestId: string): Promise<RollbackJournal | undefined>;
  /** One transaction: the journal is created and the timeline moves (busy; a session's epoch goes up). */
  beginRollback(journal: RollbackJournal, move: TimelineMove): Promise<WriteOutcome<RollbackJournal>>;
  /**
   * One transaction: the journal moves on or ends, if it has not ended yet, and the timeline moves. `kept`
   * lives at least as long as it says. `written: false` also when that is gone, or lives longer.
   */
  moveRollback(
    journal: RollbackJournal,
    move: TimelineMove,
    kept?: KeptCheckpoint,
  ): Promise<WriteOutcome<RollbackJournal>>;

  getRehydrate(sessionId: string, requestId: string): Promise<RehydrateJournal | undefined>;
  /** Creates the journal; a resume moves the session in the same transaction (busy). */
  createRehydrate(
    journal: RehydrateJournal,
    move?: { session: Session; expectedVersion: number },
  ): Promise<WriteOutcome<RehydrateJournal>>;
  /**
   * Replaces the journal if it has not ended and stands at `expectedAttempt`. With `also`, both are written
   * or none.
   */
  moveRehydrate(
    journal: RehydrateJournal,
    expectedAttempt: number,
    also?: { session: Session; expectedVersion: number } | { copy: ReviewCopy },
  ): Promise<WriteOutcome<RehydrateJournal>>;
  /** The hold of this attempt alone, and nothing beside it. Does nothing when the attempt does not hold an open journal any more. */
  holdRehydrate(
    journal: Pick<RehydrateJournal, 'sessionId' | 'requestId' | 'attempt'>,
    heldUntilMs: number,
  ): Promise<void>;
  getCopy(sessionId: string, sandboxId: string): Promise<ReviewCopy | undefined>;
  /** Replaces the copy if its version is `expectedVersion`. */
  updateCopy(copy: ReviewCopy, expectedVersion: number): Promise<WriteOutcome<ReviewCopy>>;
}

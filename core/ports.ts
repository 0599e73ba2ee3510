/**
 * Everything the core asks of the outside, in one page. One implementation each: `adapters/e2b` for the
 * sandbox, `adapters/git` for repositories inside it, `adapters/aws` for tables and objects. Every method
 * throws a `WalkbackError`, never a vendor's.
 */
import type { WalkbackEvent } from './checkpoint/events.ts';
import type {
  ChainLink,
  Checkpoint,
  Message,
  RehydrateJournal,
  ReviewCopy,
  RollbackJournal,
  Session,
  StoredBase,
  StoredBundle,
  Uncaptured,
} from './checkpoint/model.ts';

// --- the sandbox -------------------------------------------------------------------------------------------

export interface CommandResult {
  exitCode: number;
  /** Everything the command wrote, as text; keep it small. */
  stdout: string;
  stderr: string;
}

export interface CommandOptions {
  /** Absolute directory inside the sandbox; must exist. */
  cwd?: string;
  timeoutMs: number;
  /** Called with every complete line of stdout while the command runs. An error it throws rejects the run. */
  onLine?: (line: string) => void;
}

/** One sandbox. It is not trusted (C10): what it answers is verified by the caller. */
export interface ExecutionAdapter {
  readonly sandboxId: string;
  /**
   * Runs one bash command. A non-zero exit is a result, not an error. Nothing secret goes into `command`:
   * the sandbox's daemon logs it.
   */
  run(command: string, options: CommandOptions): Promise<CommandResult>;
  /** Writes files in one round trip, creating parent directories. File contents are not logged by the daemon. */
  writeFiles(files: { path: string; data: Uint8Array | string }[]): Promise<void>;
  /** Streams one file up, for content that does not fit in memory. */
  writeStream(path: string, data: ReadableStream<Uint8Array>): Promise<void>;
  /** Reads a file whole; `maxBytes` guards memory (`BundleTooLarge`). */
  readFile(path: string, maxBytes: number): Promise<Uint8Array>;
  readStream(path: string): Promise<ReadableStream<Uint8Array>>;
}

export interface SandboxTags {
  [name: string]: string;
}

export interface Sandboxes {
  /**
   * Connects to a running sandbox; throws `SandboxNotFound` when it is gone or paused. Does not resume or bill. One
   * that was used a moment ago is trusted to be there still, unless `fresh`.
   */
  open(sandboxId: string, options?: { fresh?: boolean }): Promise<ExecutionAdapter>;
  /** Creates a sandbox tagged with `tags` (the only way to find an orphan again). */
  create(options: { template?: string; tags: SandboxTags; timeoutMs: number }): Promise<ExecutionAdapter>;
  /** Running sandboxes carrying all the given tags, oldest first. */
  find(tags: SandboxTags): Promise<{ sandboxId: string; tags: SandboxTags; startedAt: string }[]>;
  /** False when it was already gone. */
  kill(sandboxId: string): Promise<boolean>;
}

// --- repositories in a sandbox -----------------------------------------------------------------------------

/** Host facts of one repository, read without writing anything. */
export interface RepositoryInfo {
  path: string;
  /** `branch` with a commit, `unborn` branch, `detached` HEAD, or `unreadable` host state. */
  headKind: 'branch' | 'unborn' | 'detached' | 'unreadable';
  branch?: string;
  head?: string;
  commits: number;
  shallow: boolean;
  partial: boolean;
  objectFormat: 'sha1' | 'sha256';
  /** Name of the base bundle this repository would need now; absent when it has no commit. */
  base?: string;
  /** Last commits, newest first: abbreviated id and subject. Only when asked for. */
  recent?: { commit: string; subject: string }[];
  /** Number of changed paths in `git status`. Only when asked for. */
  dirty?: number;
  remote?: string;
}

export interface SurveyReport {
  repositories: RepositoryInfo[];
  skipped: Uncaptured[];
}

/** What the store already has of one repository: the script builds the next link on exactly this. */
export interface KnownRepository {
  path: string;
  commit: string;
  tree: string;
  meta: string;
  base?: string;
  baseCommit?: string;
  /** `append`: on top of `commit`. `restart`: a new chain on the same base. `rebase`: a new chain on a new base. */
  next: 'append' | 'restart' | 'rebase';
}

export interface CaptureRequest {
  sessionId: string;
  projectsRoot: string;
  toolExecutionId: string;
  messageId: string | null;
  reason: string;
  known: KnownRepository[];
  /** Names of base bundles that are stored already and need not be made. */
  knownBases: string[];
  include: string[];
  exclude: string[];
  maxFileBytes: number;
  /** Depth below the projects root at which nested repositories are still looked for. */
  maxDepth: number;
  /**
   * A rollback's target: paths it would overwrite are captured even when ignored (C2), and repositories whose
   * target commit is not in the sandbox are reported as `missingTarget`.
   */
  targets?: CaptureTarget[];
  timeoutMs: number;
  /** Bundles up to this size come back through the function; larger ones go to `upload` (bytes). */
  maxInlineBytes: number;
}

export interface CaptureTarget extends CapturedState {
  path: string;
  commit: string;
}

/** A bundle as the sandbox made it. `sizeBytes` and `sha256` are its claim until verified. */
export interface CapturedBundle {
  repositoryPath: string;
  kind: 'base' | 'link';
  /** Tip commit of the bundle. */
  commit: string;
  /** Name of the base, for a base: known before a large one is uploaded, so that one stored meanwhile is not sent again. */
  base?: string;
  sizeBytes: number;
  sha256: string;
  /** The bytes, when it was small enough to travel through the function; else it was given to `upload`. */
  bytes?: Uint8Array;
}

export interface CapturedRepository {
  path: string;
  state: 'captured' | 'absent' | 'failed';
  commit?: string;
  tree?: string;
  meta?: string;
  changed: boolean;
  /** How the link was made: it may be lower than asked for when the sandbox lost objects. */
  chain?: 'append' | 'restart' | 'rebase';
  base?: string;
  baseCommit?: string;
  missingTarget?: boolean;
  info?: RepositoryInfo;
}

export interface CaptureReport {
  repositories: CapturedRepository[];
  bundles: CapturedBundle[];
  failures: Uncaptured[];
  skipped: Uncaptured[];
  /** Sequential sandbox round trips this capture took. */
  roundTrips: number;
}

/** What a capture says before its bundles are out. */
export type CaptureOutline = Omit<CaptureReport, 'bundles' | 'roundTrips'>;

/** Asks the store for a place for one large bundle: an URL that takes exactly these bytes, or null when it is there already. */
export type UploadTarget = (
  bundle: CapturedBundle,
) => Promise<{ url: string; headers: Record<string, string> } | null>;

/** One bundle a restore needs, in the order given: first the base, then the links. */
export interface BundleSource {
  sha256: string;
  sizeBytes: number;
  kind: 'base' | 'link';
  commit: string;
  /** Presigned GET, for large bundles. */
  url?: string;
  /** The bytes, for small ones. */
  bytes?: Uint8Array;
}

/** The two ids that say where one repository stands: its working files, and its host state with sidecar. */
export interface CapturedState {
  tree: string;
  meta: string;
}

export interface RestoreRepository {
  path: string;
  /** State to restore; null: the repository did not exist then, so it is parked. */
  target: CapturedState | null;
  /** State the sandbox must stand on (from the capture made just before); null when the repository is not there. */
  now: CapturedState | null;
  /** State to put back if anything fails: where the repository was when the rollback began; null: it was not there. */
  undo: CapturedState | null;
  /** Capture commit of the target; names the state for a person in the sandbox. */
  commit: string | null;
  baseCommit?: string;
  objectFormat: 'sha1' | 'sha256';
  /** Came from a partial clone: its history is not whole and need not be. */
  partial?: boolean;
  /** Bundles to bring in first, base first; empty when the sandbox has every object. */
  bundles: BundleSource[];
}

export interface RestoreRequest {
  sessionId: string;
  projectsRoot: string;
  requestId: string;
  repositories: RestoreRepository[];
  /** Every bundle of the request is in the sandbox: what `carry` answered. Good for one restore. */
  carried?: string;
  /** Working files only: host HEAD, branches and index stay. */
  filesOnly: boolean;
  /** Plan and check, change nothing. */
  dryRun: boolean;
  /** The sandbox was made for this: what its template holds where a repository comes is put aside. */
  fresh?: boolean;
  /** Tool execution of the target: tells files that were there without a repository from those made since. */
  targetTag?: string;
  include: string[];
  exclude: string[];
  maxFileBytes: number;
  maxDepth: number;
  timeoutMs: number;
}

export interface RestoredRepository {
  path: string;
  action: 'unchanged' | 'restored' | 'created' | 'parked';
  written: number;
  deleted: number;
  tree: string | null;
  paths: { path: string; change: 'write' | 'delete' }[];
}

export interface RestoreReport {
  /**
   * `applied`: every repository verified at the target. `planned`: dryRun. `refused`: a preflight check failed,
   * nothing was written. `reverted`: applying failed and every repository was put back. `broken`: putting back
   * failed as well; `problems` says where.
   */
  outcome: 'applied' | 'planned' | 'refused' | 'reverted' | 'broken';
  repositories: RestoredRepository[];
  problems: {
    path: string;
    kind: 'conflict' | 'changed' | 'missing-objects' | 'unsafe-path' | 'failed';
    message: string;
  }[];
  warnings: string[];
  roundTrips: number;
}

export interface DirectoryListing {
  path: string;
  /** Entries below it, directories with a trailing slash, `.git` and ignored ones left out. */
  entries: string[];
  truncated: boolean;
}

/** Two trees of one repository to compare; null: the repository was not there. */
export interface DiffPair {
  path: string;
  from: string | null;
  to: string | null;
}

export interface RepositoryDiff {
  path: string;
  /** Unified diff with the repository's path in its prefixes; empty with `statOnly`. */
  diff: string;
  truncated: boolean;
  files: number;
  added: number;
  deleted: number;
  /** The sandbox lacks the captures: rehydrate, or roll back to fetch them. */
  missing: boolean;
}

/** Git work inside one sandbox. Nothing here knows about tables or buckets. */
export interface Repositories {
  survey(
    sandbox: ExecutionAdapter,
    request: { projectsRoot: string; maxDepth: number; detail: boolean; timeoutMs: number },
  ): Promise<SurveyReport>;
  /** `beside` is called when bundles are read out in a second round trip, for one that can be made at the same time. */
  capture(
    sandbox: ExecutionAdapter,
    request: CaptureRequest,
    upload: UploadTarget,
    beside?: (outline: CaptureOutline) => Promise<void>,
  ): Promise<CaptureReport>;
  /**
   * Brings bundles in for a restore to come, those of each repository as its request will have them, in one round trip;
   * answers what that request calls `carried`.
   */
  carry(
    sandbox: ExecutionAdapter,
    request: { sessionId: string; projectsRoot: string; chains: BundleSource[][] },
  ): Promise<string>;
  restore(sandbox: ExecutionAdapter, request: RestoreRequest): Promise<RestoreReport>;
  diff(
    sandbox: ExecutionAdapter,
    request: {
      projectsRoot: string;
      sessionId: string;
      pairs: DiffPair[];
      statOnly: boolean;
      maxBytes: number;
      timeoutMs: number;
    },
  ): Promise<RepositoryDiff[]>;
  directories(
    sandbox: ExecutionAdapter,
    request: { projectsRoot: string; paths: string[]; maxEntries: number; timeoutMs: number },
  ): Promise<DirectoryListing[]>;
}

// --- the store ---------------------------------------------------------------------------------------------

/** Bundles in the bucket. Keys are made by the core. */
export interface BundleStore {
  /** Stores the bytes unless the key exists; the service checks SHA-256. */
  put(key: string, bytes: Uint8Array, sha256: string): Promise<void>;
  /** Size and SHA-256 of a stored object; undefined when there is none. */
  head(key: string): Promise<{ sizeBytes: number; sha256?: string } | undefined>;
  /** Throws `BundleMissing`, or `BundleCorrupt` when the bytes do not hash to `sha256`. */
  get(bundle: StoredBundle): Promise<Uint8Array>;
  /** First bytes of an object, to read a bundle's header. */
  getStart(key: string, bytes: number): Promise<Uint8Array>;
  /** An URL that accepts exactly one body: key, length and SHA-256 are signed. */
  presignPut(
    bundle: StoredBundle,
    expiresInSeconds: number,
  ): Promise<{ url: string; headers: Record<string, string> }>;
  presignGet(key: string, expiresInSeconds: number): Promise<string>;
  delete(keys: string[]): Promise<void>;
}

/** What became of a conditional write: done, or refused by its condition, with the item that stood there. */
export type WriteOutcome<T> = { written: true } | { written: false; existing?: T };

/** The timeline a rollback moves: the session's own, or a review copy's. Replaced only at the expected version. */
export type TimelineMove =
  | { session: Session; expectedVersion: number }
  | { copy: ReviewCopy; expectedVersion: number };

/** seq, parent and message of a checkpoint: the bones of the tree. */
export type TreeNode = Pick<
  Checkpoint,
  'seq' | 'parentSeq' | 'messageId' | 'messageOrder' | 'checkpointId' | 'reason' | 'complete' | 'detached'
>;

/** The Sessions table. All reads are strongly consistent unless said otherwise. */
export interface SessionStore {
  getSession(sessionId: string): Promise<Session | undefined>;
  /** Create-only. */
  createSession(session: Session, baseline: Checkpoint): Promise<WriteOutcome<Session>>;
  /** Replaces the session item if its version is `expectedVersion`. */
  updateSession(session: Session, expectedVersion: number): Promise<WriteOutcome<Session>>;
  /**
   * Any order, eventually consistent: for people. Fewer than `limit`, even none, when they are large or far apart; there
   * are more as long as there is a cursor.
   */
  listSessions(limit: number, cursor?: string): Promise<{ sessions: Session[]; cursor?: string }>;

  /**
   * One transaction (C1): the session moves from `expectedVersion`, the checkpoint and its tool execution are
   * created, the message is created or moved, the journal (if it is still open) and the review copy too.
   * `written: false` when any of these conditions does not hold.
   */
  commitCheckpoint(write: {
    session: Session;
    expectedVersion: number;
    checkpoint: Checkpoint;
    message?: Message;
    journal?: RollbackJournal;
    copy?: { copy: ReviewCopy; expectedVersion: number };
  }): Promise<WriteOutcome<Session>>;
  getCheckpoint(sessionId: string, seq: number): Promise<Checkpoint | undefined>;
  findCheckpointByTool(sessionId: string, toolExecutionId: string): Promise<Checkpoint | undefined>;
  /** Newest first; fewer than `limit` when they have `maxBytes` before. */
  listCheckpoints(
    sessionId: string,
    options: { limit: number; maxBytes?: number; beforeSeq?: number },
  ): Promise<Checkpoint[]>;
  /** Every checkpoint of the session, oldest first. */
  listTree(sessionId: string): Promise<TreeNode[]>;
  /** Lets a checkpoint live until `expiresAt` at least; nothing happens when it is gone. */
  prolongCheckpoint(sessionId: string, seq: number, expiresAt: number): Promise<void>;
  findMessage(sessionId: string, messageId: string): Promise<Message | undefined>;
  /** In order of first appearance. */
  listMessages(sessionId: string): Promise<Message[]>;

  putLinks(links: ChainLink[]): Promise<void>;
  listLinks(sessionId: string, chainId: string): Promise<ChainLink[]>;
  getBase(name: string): Promise<StoredBase | undefined>;
  /** Stores or prolongs: the first object stays, `expiresAt` only grows. Answers what is stored. */
  putBase(base: StoredBase): Promise<StoredBase>;

  getRollback(sessionId: string, requestId: string): Promise<RollbackJournal | undefined>;
  /** One transaction: the journal is created and the timeline moves (busy; a session's epoch goes up). */
  beginRollback(journal: RollbackJournal, move: TimelineMove): Promise<WriteOutcome<RollbackJournal>>;
  /** One transaction: the journal ends, if it is not ended yet, and the timeline moves. */
  endRollback(journal: RollbackJournal, move: TimelineMove): Promise<WriteOutcome<RollbackJournal>>;

  getRehydrate(sessionId: string, requestId: string): Promise<RehydrateJournal | undefined>;
  /** Creates the journal; a resume moves the session in the same transaction (busy). */
  createRehydrate(
    journal: RehydrateJournal,
    move?: { session: Session; expectedVersion: number },
  ): Promise<WriteOutcome<RehydrateJournal>>;
  /** Replaces the journal if it is not ended and stands at `expectedAttempt`; with `also`, both or none. */
  moveRehydrate(
    journal: RehydrateJournal,
    expectedAttempt: number,
    also?: { session: Session; expectedVersion: number } | { copy: ReviewCopy },
  ): Promise<WriteOutcome<RehydrateJournal>>;
  getCopy(sessionId: string, sandboxId: string): Promise<ReviewCopy | undefined>;
  /** Replaces the copy if its version is `expectedVersion`. */
  updateCopy(copy: ReviewCopy, expectedVersion: number): Promise<WriteOutcome<ReviewCopy>>;
}

// --- the rest ----------------------------------------------------------------------------------------------

/** Where events go. Delivery is at least once; `id` lets a consumer drop the second. */
export interface Events {
  publish(events: WalkbackEvent[]): Promise<void>;
}

export interface Clock {
  now(): Date;
  /** Waits before a lost race is tried again. */
  sleep(ms: number): Promise<void>;
}

/** Structured log of what a use case did; no secrets, no file contents. */
export interface Log {
  info(message: string, facts?: Record<string, unknown>): void;
  warn(message: string, facts?: Record<string, unknown>): void;
}

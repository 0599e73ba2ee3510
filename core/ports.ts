/**
 * Everything the core asks of the outside, in one page. One implementation each: `adapters/e2b` for the
 * sandbox, `adapters/git` for repositories inside it, `adapters/aws` for tables and objects. Every method
 * throws a `WalkbackError`, never a vendor's.
 */
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
  /** Connects to a running sandbox; throws `SandboxNotFound` when it is gone or paused. Does not resume or bill. */
  open(sandboxId: string): Promise<ExecutionAdapter>;
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
  targets?: { path: string; commit: string }[];
  timeoutMs: number;
  /** Bundles up to this size come back through the function; larger ones go to `upload` (bytes). */
  maxInlineBytes: number;
}

/** A bundle as the sandbox made it. `sizeBytes` and `sha256` are its claim until verified. */
export interface CapturedBundle {
  repositoryPath: string;
  kind: 'base' | 'link';
  /** Tip commit of the bundle. */
  commit: string;
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

export interface RestoreRepository {
  path: string;
  /** Capture commit to restore; null: the repository did not exist, so it is parked. */
  commit: string | null;
  tree: string | null;
  /** Commit the sandbox must stand on now (from the capture made just before); null when it is not there now. */
  now: string | null;
  nowTree: string | null;
  /** Commit to put back if anything fails: the state when the rollback began. */
  undo: string | null;
  baseCommit?: string;
  shallow?: boolean;
  objectFormat: 'sha1' | 'sha256';
  /** Bundles to fetch first; empty when the sandbox has every object. */
  bundles: BundleSource[];
}

export interface RestoreRequest {
  sessionId: string;
  projectsRoot: string;
  requestId: string;
  repositories: RestoreRepository[];
  /** Working files only: host HEAD, branches and index stay. */
  filesOnly: boolean;
  /** Plan and check, change nothing. */
  dryRun: boolean;
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

/** Git work inside one sandbox. Nothing here knows about tables or buckets. */
export interface Repositories {
  survey(
    sandbox: ExecutionAdapter,
    request: { projectsRoot: string; maxDepth: number; detail: boolean; timeoutMs: number },
  ): Promise<SurveyReport>;
  capture(sandbox: ExecutionAdapter, request: CaptureRequest, upload: UploadTarget): Promise<CaptureReport>;
  restore(sandbox: ExecutionAdapter, request: RestoreRequest): Promise<RestoreReport>;
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

/** Thrown clauses of a conditional write, as data: which condition failed, and the item that was there. */
export type WriteOutcome<T> = { written: true } | { written: false; existing?: T };

/** The Sessions table. All reads are strongly consistent unless said otherwise. */
export interface SessionStore {
  getSession(sessionId: string): Promise<Session | undefined>;
  /** Create-only. */
  createSession(session: Session, baseline: Checkpoint): Promise<WriteOutcome<Session>>;
  /** Replaces the session item if its version is `expectedVersion`. */
  updateSession(session: Session, expectedVersion: number): Promise<WriteOutcome<Session>>;
  listSessions(limit: number, cursor?: string): Promise<{ sessions: Session[]; cursor?: string }>;

  /**
   * One transaction (C1): the session moves from `expectedVersion`, the checkpoint and its tool execution are
   * created, the message is created or moved. `written: false` when the version moved or the execution exists.
   */
  commitCheckpoint(write: {
    session: Session;
    expectedVersion: number;
    checkpoint: Checkpoint;
    message?: Message;
    journal?: RollbackJournal;
    copy?: ReviewCopy;
  }): Promise<WriteOutcome<Session>>;
  getCheckpoint(sessionId: string, seq: number): Promise<Checkpoint | undefined>;
  findCheckpointByTool(sessionId: string, toolExecutionId: string): Promise<Checkpoint | undefined>;
  /** Newest first. */
  listCheckpoints(sessionId: string, options: { limit: number; beforeSeq?: number }): Promise<Checkpoint[]>;
  /** seq -> parentSeq and messageOrder of every checkpoint: the bones of the tree. */
  listTree(
    sessionId: string,
  ): Promise<
    Pick<Checkpoint, 'seq' | 'parentSeq' | 'messageId' | 'messageOrder' | 'checkpointId' | 'reason'>[]
  >;
  findMessage(sessionId: string, messageId: string): Promise<Message | undefined>;
  listMessages(sessionId: string): Promise<Message[]>;

  putLinks(links: ChainLink[]): Promise<void>;
  listLinks(sessionId: string, chainId: string): Promise<ChainLink[]>;
  getBase(name: string): Promise<StoredBase | undefined>;
  /** Stores or prolongs: `expiresAt` only grows. */
  putBase(base: StoredBase): Promise<void>;

  getRollback(sessionId: string, requestId: string): Promise<RollbackJournal | undefined>;
  /** One transaction: the journal is created and the session moves (epoch up, busy). */
  beginRollback(
    journal: RollbackJournal,
    session: Session,
    expectedVersion: number,
  ): Promise<WriteOutcome<Session>>;
  /** Replaces the journal if it is in one of `from`; with `session`, both or none. */
  moveRollback(
    journal: RollbackJournal,
    from: RollbackJournal['phase'][],
    session?: { session: Session; expectedVersion: number } | { copy: ReviewCopy; expectedVersion: number },
  ): Promise<WriteOutcome<RollbackJournal>>;

  getRehydrate(sessionId: string, requestId: string): Promise<RehydrateJournal | undefined>;
  createRehydrate(journal: RehydrateJournal): Promise<WriteOutcome<RehydrateJournal>>;
  moveRehydrate(
    journal: RehydrateJournal,
    from: RehydrateJournal['phase'][],
    also?: { session: Session; expectedVersion: number } | { copy: ReviewCopy },
  ): Promise<WriteOutcome<RehydrateJournal>>;
  getCopy(sessionId: string, sandboxId: string): Promise<ReviewCopy | undefined>;
}

export interface Clock {
  now(): Date;
}

/** Structured log of what a use case did; no secrets, no file contents. */
export interface Log {
  info(message: string, facts?: Record<string, unknown>): void;
  warn(message: string, facts?: Record<string, unknown>): void;
}

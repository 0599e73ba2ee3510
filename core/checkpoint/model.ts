/** The nouns of a session's timeline, as they are stored and as the functions answer them. Data only. */
import type { LineCount, SettledRollback, Uncaptured } from '../../contract/answer-fields.ts';
import type { Busy } from '../../contract/checkpoint-answers.ts';
import type { AskedBy } from '../../contract/identity.ts';
import type { Work } from '../../contract/progress.ts';
import type { Conflict } from '../../contract/rollback-answers.ts';
import type { StoredBundle } from './bundles.ts';

type CheckpointReason = 'baseline' | 'before-tool' | 'manual' | 'rollback' | 'late-writes' | (string & {});

/** What one session is, and where its timeline stands. One item: `SESSION#<id>` / `META`. */
export interface Session {
  sessionId: string;
  /** Counts rollbacks; fences stale writers (C9). Starts at 1. */
  epoch: number;
  /** Optimistic lock of this item: every write of the session adds one. */
  version: number;
  /** Sequence number of the newest checkpoint written (not of the head). */
  seq: number;
  /** The checkpoint the sandbox stands on; new checkpoints have it as parent. */
  headSeq: number;
  /** Its timeline is a line: each checkpoint follows on the one before, and the head is the newest. */
  isLine?: true;
  /** Number of messages seen, gives the next message its order. */
  messageCount: number;
  sandboxId: string;
  /** Absolute path inside the sandbox. */
  projectsRoot: string;
  template?: string;
  include: string[];
  exclude: string[];
  maxFileBytes: number;
  retentionDays: number;
  metadata: Record<string, string>;
  /** Sessions of one tenant share bases. Without a tenant, a session shares its bases only with its forks. */
  tenant?: string;
  /** The project of its sagas, unless a saga names its own. Never changes. */
  project?: string;
  /** For a fork: the owner of the bases, the same as that of its source. */
  baseOwner?: string;
  /** For a fork: the checkpoint that it began at. */
  forkedFrom?: CheckpointRef & { checkpointId: string };
  status: 'active' | 'ended';
  /** Lines that its checkpoints changed, summed up. Work that a rollback has left behind still counts. */
  lines: LineCount;
  /** Number of repositories in its newest checkpoint. */
  repositoryCount: number;
  /** Set while a rollback or a resume of this session runs; cleared with the write that finishes it. */
  busy?: Busy;
  /**
   * The last rewind that raised the epoch as it began, with the epoch that it was decided in (the one
   * before).
   */
  begunRewind?: { requestId: string; epoch: number };
  /** The last rollback that another call had to settle. */
  settledRollback?: SettledRollback;
  /** SHA-256 of the start-session request. The same id with a different request is `SessionConflict`. */
  requestHash: string;
  createdAt: string;
  updatedAt: string;
  /** Unix seconds; the table's TTL. */
  expiresAt: number;
}

/** The Git objects that make up the capture of one repository. */
interface Capture {
  /** The capture commit in the shadow. */
  commit: string;
  /** Tree of the working files. */
  tree: string;
  /** Commit that carries host state and sidecar; equal ids mean equal host state. */
  meta: string;
}

/** How a repository differs from the checkpoint before. `created`: the checkpoint before does not hold it. */
export type RepositoryChange = 'changed' | 'created' | 'removed';

interface RepositoryFacts {
  /** Relative to the projects root, `.` for the root itself. */
  path: string;
  changed: boolean;
  /** Absent where it does not differ, and in a baseline. */
  change?: RepositoryChange | undefined;
  /** Bytes of this checkpoint's bundle for the repository; 0 when nothing changed. */
  bundleBytes: number;
  /**
   * The chain that the commit's link belongs to, and the link's place in it (0 is the first). Both are
   * absent when the commit is not stored.
   */
  chainId?: string;
  link?: number;
  /** Total bytes of the chain's links up to this one. */
  chainBytes?: number;
  /** Bytes of the chain's first link. Starting over on the same base would cost about this much again. */
  firstBytes?: number;
  /**
   * Unix seconds at which the first of the chain's items (links, base) would expire. They are prolonged
   * before that.
   */
  chainExpiresAt?: number;
  /** Name of the base bundle below the chain; absent when the repository had no commit. */
  base?: string;
  baseCommit?: string;
  /** See `StoredBase`. */
  baseOwner?: string;
  baseBytes?: number;
  branch?: string;
  head?: string;
  /** Number of commits the host history had; answered by start-session. */
  commits?: number;
  shallow?: boolean;
  partial?: boolean;
  objectFormat?: 'sha1' | 'sha256';
  /** Commits of the newest stash entries, newest first. They are in no bundle. */
  stash?: string[];
}

export type CapturedRepositoryState = RepositoryFacts & Capture & { state: 'captured' };

/**
 * `absent`: the session knows the repository, but it is gone from the sandbox. `failed`: it is there, but
 * was not captured. Both keep the last good capture, if there was one, so that the next capture can
 * continue from it.
 */
type LastKnownState = RepositoryFacts & Partial<Capture> & { state: 'absent' | 'failed' };

/** Where one repository stood at a checkpoint. */
export type RepositoryState = CapturedRepositoryState | LastKnownState;

/** What a message says, cut to what is kept. The caller has redacted it. */
export interface SaidMessage {
  role: string;
  /** One line. */
  title?: string;
  text?: string;
  isCut?: boolean;
}

/** The tool call that a checkpoint was taken before. */
export interface CalledTool {
  name: string;
  /** A text as it is, anything else as JSON. */
  input?: string;
  isCut?: boolean;
}

/** Where one part lies in the content's object. */
export interface ContentPart {
  at: number;
  bytes: number;
}

/** What changed in a repository since the checkpoint before, in numbers. */
export interface ChangesSummary {
  path: string;
  /** Null where it was not counted. */
  files: number | null;
  added: number | null;
  deleted: number | null;
  /** The list of files or the patch was cut. */
  isCut?: boolean;
  /** Why something is missing. */
  problem?: string;
  /** The list of files, the changes beside the files, and the patch. */
  part?: ContentPart;
}

/**
 * What people read about a checkpoint and no restore needs. Longer texts and the changes are in one object,
 * which lives as long as the checkpoint.
 */
export interface CheckpointContent {
  message?: SaidMessage;
  /** The message that the operation belongs to, when the checkpoint's work belongs to an earlier one. */
  forMessage?: SaidMessage;
  tool?: CalledTool;
  /** Absent in a baseline, which has nothing before it. */
  changes?: ChangesSummary[];
  object?: StoredBundle;
  /** The texts of messages and tool, where they are in the object. */
  said?: ContentPart;
  /** Why some of the content is not kept. */
  problem?: string;
}

/** Names a checkpoint of any session. */
export interface CheckpointRef {
  sessionId: string;
  seq: number;
}

/** With the checkpoint's id, for the answer: the checkpoint may be gone by then. */
export type NamedRef = CheckpointRef & { checkpointId?: string };

/**
 * How a state that no sandbox was ever in is made from captures.
 *
 * - `paths`: the state of now, with some paths as they were.
 * - `revert`: the state of now without these changes, newest first; `after` null is now.
 * - `merge`: the state of now with what happened between `base` and `from`.
 */
export type Composition =
  /** `fromId` is for the answer. */
  | { kind: 'paths'; fromSeq: number; fromId: string; paths: string[] }
  | { kind: 'revert'; changes: { beforeSeq: number; afterSeq: number | null }[]; paths?: string[] }
  | {
      kind: 'merge';
      from: NamedRef;
      base: NamedRef;
      paths?: string[];
      markers: boolean;
      /** Also files that still have conflict markers. */
      allowMarkers?: true;
      /** Only into a state that still equals the base. */
      expectUnchanged?: true;
    };

/** What else an answer says about a composed state. */
export interface ComposedFacts {
  /** Conflicts that were left in the files, between markers. */
  conflicts: Conflict[];
  warnings: string[];
}

/** One capture of all repositories (C1). One item: `SESSION#<id>` / `CP#<seq>`. */
export interface Checkpoint {
  sessionId: string;
  checkpointId: string;
  seq: number;
  /** Parent in the timeline tree; null for the baseline. */
  parentSeq: number | null;
  epoch: number;
  /** Last message whose work it contains; null before the first message. */
  messageId: string | null;
  messageOrder: number | null;
  /** The message whose operation it was taken for. Absent where the caller did not say. */
  forMessageId?: string;
  /** Its changes since its parent belong to no message (whose-work.ts). */
  unowned?: true;
  toolExecutionId: string;
  reason: CheckpointReason;
  complete: boolean;
  repositories: RepositoryState[];
  failures: Uncaptured[];
  skipped: Uncaptured[];
  sandboxId: string;
  /** True when taken in a review copy: it is in the tree, but never the session's head. */
  detached: boolean;
  /** An abandoned rollback that the call for this checkpoint settled before it captured. */
  settledRollback?: SettledRollback;
  /** Files that another process wrote during a rollback, when the checkpoint was taken to keep them. */
  lateFiles?: string[];
  /** How many more there are. */
  lateFilesNotListed?: number;
  /** Absent where a state was composed of whole repositories alone. */
  content?: CheckpointContent;
  /** For a merge: the checkpoint whose work it took, as a second parent. Absent when it took some paths only. */
  mergedFrom?: CheckpointRef;
  /** For a revert of checkpoints: the checkpoints of this session that it took back whole. */
  takesBack?: number[];
  /** For the first checkpoint of a fork: the checkpoint that it is a copy of. */
  forkedFrom?: CheckpointRef;
  /** Made from captures, not taken in a sandbox. */
  composed?: ComposedFacts;
  /**
   * Taken after a rollback broke off while it wrote. The state is neither the one before the rollback nor the
   * target, and may hold parts of both.
   */
  halfWritten?: true;
  /** Who asked for the rollback that this checkpoint was taken before. */
  by?: AskedBy;
  createdAt: string;
  expiresAt: number;
}

export interface Message {
  messageId: string;
  /** 1, 2, 3 ... in order of first appearance. */
  order: number;
  firstSeq: number;
  /**
   * The message's last checkpoint. Captures that a rollback made do not count, unless there is no other.
   * "Roll back to this message" means this one.
   */
  lastSeq: number;
  /** The id of the checkpoint `lastSeq`. */
  lastId: string;
  /** The role that was last given for it. */
  role?: string;
  title?: string;
  /** The checkpoint that has its text. */
  textSeq?: number;
}

/** What work that takes long has done so far. */
export interface WorkDone {
  doing: Work;
  /** Files, or bytes. */
  done: number;
  /** Absent while nobody knows. */
  of?: number;
}

/** What long work of a session has done so far. Item `SESSION#<id>` / `PROGRESS`; the session itself may not be there yet. */
export interface WorkProgress extends WorkDone {
  sessionId: string;
  startedAt: string;
  /** When this was told. */
  at: string;
  expiresAt: number;
}

/** The request and the report of a restore. */
import type { HostChange } from '../../../contract/change-answers.ts';

/** One bundle that a restore needs. They come in order: first the base, then the links. */
export interface BundleSource {
  sha256: string;
  sizeBytes: number;
  kind: 'base' | 'link';
  /** Presigned GET, for large bundles. */
  url?: string;
  /** Must be sent with it. */
  headers?: Record<string, string>;
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
  /** State to restore. Null: the repository did not exist at the target, so it is parked. */
  target: CapturedState | null;
  /**
   * State that the sandbox must be in, from the capture made just before. Null when the repository is not
   * there.
   */
  now: CapturedState | null;
  /**
   * State to put back if anything fails: the one from when the rollback began. Null: the repository was not
   * there.
   */
  undo: CapturedState | null;
  /** The repository is a partial clone, so its history is incomplete and may stay so. */
  partial?: boolean;
  /**
   * Files that the target left out for their size, by path in the repository. They existed then, so they
   * are not deleted.
   */
  skipped?: string[];
  /** Stash entries that existed at the target. A warning names those that are gone. */
  stash?: string[];
  /** Bundles to bring in first, base first; empty when the sandbox has every object. */
  bundles: BundleSource[];
}

export interface RestoreRequest {
  sessionId: string;
  projectsRoot: string;
  repositories: RestoreRepository[];
  /** The answer of `carry`: every bundle of the request is in the sandbox. Good for one restore. */
  carried?: string;
  /** Working files only: host HEAD, branches and index stay. */
  filesOnly: boolean;
  /** Plan and check, change nothing. */
  dryRun: boolean;
  /**
   * A rollback from `undo` to `target` broke off. What it wrote goes back to `undo`. Everything else stays, also
   * where the two differ.
   */
  settle?: boolean;
  /** The sandbox was made for this restore. Template files in the place of a repository are put aside. */
  fresh?: boolean;
  /**
   * Other processes go on writing. A change to only the content of captured files does not stop the
   * restore.
   */
  allowConcurrentWriters?: boolean;
  /** Tool execution of the target. It tells files that were there without a repository from files made since. */
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
  /** Changes beside the files. Absent when there are none, or when only files are restored. */
  host?: HostChange;
  /** What was read back when it was applied. Null when nothing was, and where the target has no repository. */
  verified: VerifiedState | null;
  paths: { path: string; change: 'write' | 'delete' }[];
}

/** What a proof of a restore read in the sandbox. */
export interface VerifiedState extends CapturedState {
  /**
   * In what it may differ from the target, as the sandbox says: `files` that nobody may delete, files of
   * repositories `inner` to this one, parts of the host state, and its `parents`.
   */
  apart: string[];
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
    /** `interrupted`: a process was ended from outside; the same request, made again, goes on. */
    kind: 'conflict' | 'changed' | 'missing-objects' | 'unsafe-path' | 'interrupted' | 'failed';
    message: string;
  }[];
  /**
   * Changes by other processes to files that were overwritten or deleted. A restore never removes these.
   */
  asides?: SetAside[];
  warnings: string[];
  /** The result of `settle`. */
  settled?: SettleReport;
  roundTrips: number;
}

/** Files that were put aside because they differ from the capture, or are still open. */
export interface SetAside {
  /** Path of the repository they stood in. */
  path: string;
  /** The directory in the sandbox that holds them, by their paths in the repository. */
  directory: string;
  /** Written after the capture. */
  late: string[];
  /** Held open by a process, which may write on. */
  open: string[];
}

export interface SettleReport {
  /** Number of paths (and parts of host state) that matched the target. 0: nothing was written. */
  reached: number;
  /**
   * Paths that match neither, relative to the projects root, because someone changed them since. Only the
   * first ones are listed.
   */
  kept: string[];
  /** How many more there are. */
  keptNotListed: number;
}

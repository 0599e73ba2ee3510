/** What a restore is asked, and what it answers. */
import type { HostChange } from '../../../contract/checkpoint-answers.ts';

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
  /** What the target left out for its size, by its path in the repository: it was there then, and is not deleted. */
  skipped?: string[];
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
  /**
   * A rollback broke off between `undo` and `target`: every path on which the two differ and that holds what either has
   * there goes to one end, all to the same; everything else stays. `nearer`: the end that more of them have reached.
   */
  settle?: 'nearer' | 'target' | 'undo';
  /** The sandbox was made for this: what its template holds where a repository comes is put aside. */
  fresh?: boolean;
  /** Other processes go on writing: what changes only the content of captured files does not stop the restore. */
  company?: boolean;
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
  /** What changes beside the files; absent when nothing does, or only files are restored. */
  host?: HostChange;
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
    /** `interrupted`: a process was ended from outside; the same request, made again, goes on. */
    kind: 'conflict' | 'changed' | 'missing-objects' | 'unsafe-path' | 'interrupted' | 'failed';
    message: string;
  }[];
  /** What other processes wrote into files that were overwritten or deleted; never removed by a restore. */
  asides?: SetAside[];
  warnings: string[];
  /** What `settle` found. */
  settled?: SettleReport;
  roundTrips: number;
}

/** Files that were put aside and are not what was captured, or are still open. */
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
  /** `none`: no path had reached the target, so nothing was written. */
  end: 'target' | 'undo' | 'none';
  /** Paths (and parts of host state) that hold what the target has, and what the undo has. */
  reached: number;
  unreached: number;
  /** What holds neither, relative to the projects root: somebody worked on it since. The first ones. */
  kept: string[];
}

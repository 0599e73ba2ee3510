/** The request and the report of a capture. */

import type { Uncaptured } from '../../../contract/answer-fields.ts';
import type { FileChange, HostChange } from '../../../contract/change-answers.ts';
import type { RepositoryInfo } from '../../../contract/checkpoint-answers.ts';
import type { WorkDone } from '../model.ts';
import type { CapturedState } from './restore.ts';

/** What the store already holds of one repository. The sandbox builds the next link on exactly this. */
export interface KnownRepository {
  path: string;
  commit: string;
  tree: string;
  meta: string;
  base?: string;
  baseCommit?: string;
  /** `append`: on top of `commit`. `restart`: a new chain on the same base. `rebase`: a new chain on a new base. */
  next: 'append' | 'restart' | 'rebase';
  /** It was not there at the checkpoint before, so everything in it now is new. */
  isGone?: boolean;
}

export interface CaptureRequest {
  sessionId: string;
  projectsRoot: string;
  toolExecutionId: string;
  messageId: string | null;
  reason: string;
  known: KnownRepository[];
  /** Repositories that were seen but never captured. Those that are gone are reported as absent. */
  mentioned?: string[];
  /** Names of base bundles that are stored already and need not be made. */
  knownBases: string[];
  include: string[];
  exclude: string[];
  maxFileBytes: number;
  /** Depth below the projects root at which nested repositories are still looked for. */
  maxDepth: number;
  /**
   * The target of a rollback. Paths that it would overwrite are captured even when ignored (C2).
   * Repositories whose target commit is not in the sandbox are reported as `missingTarget`.
   */
  targets?: CaptureTarget[];
  /**
   * Captures the known states plus the files that restores put aside because another process wrote them
   * meanwhile. The working files are not looked at.
   */
  late?: boolean;
  /** Records what changed since the known states, for people who read it when no sandbox is left. */
  changes?: boolean;
  timeoutMs: number;
  /**
   * The smallest bundles come back through the function, up to this many bytes together. The others go to
   * `upload`.
   */
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
  /**
   * Name of the base, if this is one. It is known before a large base is uploaded, so that one stored
   * meanwhile is not sent again.
   */
  base?: string;
  /** How the link was made, for a link. */
  chain?: 'append' | 'restart' | 'rebase';
  sizeBytes: number;
  sha256: string;
  /** The bytes, when it was small enough to travel through the function; else it was given to `upload`. */
  bytes?: Uint8Array;
}

/** A sandbox's claim about one capture. The ids are unverified until they are checked. */
export interface ClaimedCapture {
  path: string;
  state: 'captured';
  commit: string;
  tree: string;
  meta: string;
  changed: boolean;
  /** How the link was made: it may be lower than asked for when the sandbox lost objects. */
  chain?: 'append' | 'restart' | 'rebase';
  base?: string;
  baseCommit?: string;
  missingTarget?: boolean;
  /** Commits of the newest entries of its stash, newest first. Absent when it has none. */
  stash?: string[];
  info?: RepositoryInfo;
}

/** A repository that was not captured has none of the other members. */
type NotCaptured = { [Key in Exclude<keyof ClaimedCapture, 'path' | 'state' | 'changed'>]?: undefined } & {
  path: string;
  state: 'absent' | 'failed';
  changed: boolean;
};

export type CapturedRepository = ClaimedCapture | NotCaptured;

/**
 * What changed in a repository since the known state. It is read from the sandbox's text, and cut to what is
 * kept.
 */
export interface ClaimedChanges {
  path: string;
  files: FileChange[];
  /** Totals of all files, also those that are not listed. Null where it was not counted. */
  total: { files: number | null; added: number | null; deleted: number | null };
  host?: HostChange;
  /** The patch as git wrote it; mostly text. */
  patch: Uint8Array;
  /** The list or the patch was cut. */
  isCut: boolean;
  /** Why something is missing. */
  problem?: string;
}

export interface CaptureReport {
  repositories: CapturedRepository[];
  bundles: CapturedBundle[];
  failures: Uncaptured[];
  skipped: Uncaptured[];
  /** With `late`: those files, relative to the projects root. */
  late?: string[];
  /** With `changes`: one entry for each repository that changed. */
  changes?: ClaimedChanges[];
  /** Names what still lies in the sandbox although it was read (`Repositories.release`). */
  held?: string;
  /** Sequential sandbox round trips this capture took. */
  roundTrips: number;
}

/** The part of a report that is known before the bundles are out. */
export type CaptureOutline = Omit<CaptureReport, 'bundles' | 'changes' | 'held' | 'roundTrips'>;

/** What is told while a command runs in the sandbox. */
export interface ProgressHooks {
  /** Called now and then. It is a claim of the sandbox. */
  onProgress?: (done: WorkDone) => void;
}

export interface CaptureHooks extends ProgressHooks {
  /**
   * Called when bundles are read out in a second round trip, so that another round trip can run at the same time.
   */
  meanwhile?: (outline: CaptureOutline) => Promise<void>;
}

/**
 * Asks the store where one large bundle goes: a URL that accepts exactly these bytes, or null when it is
 * stored already.
 */
export type UploadTarget = (
  bundle: CapturedBundle,
) => Promise<{ url: string; headers: Record<string, string> } | null>;

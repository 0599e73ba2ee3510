/**
 * Git repositories inside a sandbox: inspects, captures, restores and compares them (`adapters/git`). Every
 * method throws a `WalkbackError`, never a vendor's.
 */
import type { HostChange } from '../../../contract/change-answers.ts';
import type { DirectoryListing } from '../../../contract/checkpoint-answers.ts';
import type { BlameReport, BlameRequest, FindFileRequest } from './blame.ts';
import type { CaptureHooks, CaptureReport, CaptureRequest, ProgressHooks, UploadTarget } from './capture.ts';
import type { ComposeReport, ComposeRequest } from './compose.ts';
import type { BundleSource, RestoreReport, RestoreRequest } from './restore.ts';
import type { CommandRunner, ExecutionAdapter } from './sandbox.ts';
import type { SurveyReport } from './survey.ts';

/** Two trees of one repository to compare; null: the repository was not there. */
export interface DiffPair {
  path: string;
  from: string | null;
  to: string | null;
  /** Host states. Null where there was none, or where host states are not compared. */
  fromMeta?: string | null;
  toMeta?: string | null;
}

export interface RepositoryDiff {
  path: string;
  /** Unified diff with the repository's path in its prefixes; empty with `statOnly`. */
  diff: string;
  truncated: boolean;
  files: number;
  added: number;
  deleted: number;
  host?: HostChange;
  /** The sandbox lacks the captures: rehydrate, or roll back to fetch them. */
  missing: boolean;
}

/** Something that Walkback keeps in a sandbox. Paths are relative to the projects root. */
export interface Leftover {
  path: string;
  /** Null: it belongs to no session. */
  sessionId: string | null;
  /** `needed`: by a session that is not over. `keep`: it may hold files of the user's own, or could not be removed. */
  fate: 'remove' | 'needed' | 'keep';
  files: number;
  bytes: number;
}

/** Files that lie in no repository. Null: too many to be counted. */
export interface LooseFiles {
  files: number | null;
  bytes: number | null;
}

/** Git work inside one sandbox. Nothing here knows about tables or buckets. */
export interface Repositories {
  survey(
    sandbox: ExecutionAdapter,
    request: { projectsRoot: string; maxDepth: number; detail: boolean; timeoutMs: number },
  ): Promise<SurveyReport>;
  /**
   * The files below the projects root that lie in no repository, without those that git ignores there and `include` does
   * not name. `exclude`: patterns of files that do not count. Sizes are counted of at most `mostFiles` files of up to `maxFileBytes`.
   */
  countLooseFiles(
    sandbox: ExecutionAdapter,
    request: {
      projectsRoot: string;
      include: readonly string[];
      exclude: readonly string[];
      mostFiles: number;
      maxFileBytes: number;
      timeoutMs: number;
    },
  ): Promise<LooseFiles>;
  capture(
    sandbox: ExecutionAdapter,
    request: CaptureRequest,
    upload: UploadTarget,
    hooks?: CaptureHooks,
  ): Promise<CaptureReport>;
  /**
   * Says that what a capture with `late` found under this name is durable. So the sandbox need not keep those
   * files, unless a process still holds one open.
   */
  lateStored(
    sandbox: ExecutionAdapter,
    request: { sessionId: string; projectsRoot: string; toolExecutionId: string; timeoutMs: number },
  ): Promise<void>;
  /** Removes the bundles of a capture that were read (`held` of its report). Never fails for want of the sandbox. */
  release(
    sandbox: ExecutionAdapter,
    request: { sessionId: string; projectsRoot: string; held: string },
  ): Promise<void>;
  /** Lists what Walkback keeps there. With `remove`, removes what no session but those in `ended` needs. */
  leftovers(
    sandbox: CommandRunner,
    request: {
      projectsRoot: string;
      maxDepth: number;
      ended: readonly string[];
      remove: boolean;
      timeoutMs: number;
    },
  ): Promise<Leftover[]>;
  /**
   * Makes captures from captures: merges one side's changes into a state, or takes them out of it. Only the
   * shadow is written.
   */
  compose(sandbox: ExecutionAdapter, request: ComposeRequest, upload: UploadTarget): Promise<ComposeReport>;
  /**
   * Brings in the bundles for a later restore in one round trip. `chains` lists them for each repository as
   * that restore's request will. The answer is that request's `carried`.
   */
  carry(
    sandbox: ExecutionAdapter,
    request: { sessionId: string; projectsRoot: string; chains: BundleSource[][] },
  ): Promise<string>;
  restore(sandbox: ExecutionAdapter, request: RestoreRequest, hooks?: ProgressHooks): Promise<RestoreReport>;
  diff(
    sandbox: ExecutionAdapter,
    request: {
      projectsRoot: string;
      sessionId: string;
      pairs: DiffPair[];
      statOnly: boolean;
      /** Only this file, with so many lines around each change. */
      file?: { file: string; context: number };
      maxBytes: number;
      timeoutMs: number;
    },
  ): Promise<RepositoryDiff[]>;
  /** Who wrote the lines of a file. Only a folder of the call is written, and removed. */
  blame(sandbox: ExecutionAdapter, request: BlameRequest): Promise<BlameReport>;
  /** The repositories whose trees have the path as something else than a directory. Those that are not in the sandbox have nothing. */
  findFile(sandbox: ExecutionAdapter, request: FindFileRequest): Promise<string[]>;
  directories(
    sandbox: ExecutionAdapter,
    request: { projectsRoot: string; paths: string[]; maxEntries: number; timeoutMs: number },
  ): Promise<DirectoryListing[]>;
}

/**
 * Git repositories inside a sandbox: looked at, captured, restored, compared (`adapters/git`). Every method throws a
 * `WalkbackError`, never a vendor's.
 */
import type { Uncaptured } from '../model.ts';
import type { CaptureOutline, CaptureReport, CaptureRequest, UploadTarget } from './capture.ts';
import type { BundleSource, RestoreReport, RestoreRequest } from './restore.ts';
import type { ExecutionAdapter } from './sandbox.ts';

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

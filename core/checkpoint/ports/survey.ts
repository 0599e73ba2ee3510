/** What a look at the repositories of a sandbox answers. */
import type { Uncaptured } from '../model.ts';

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

/**
 * The request and the report of a composition: it makes captures from captures, without looking at the
 * working files.
 */
import type { Conflict } from '../../../contract/rollback-answers.ts';
import type { CaptureReport, CaptureRequest, KnownRepository } from './capture.ts';
import type { BundleSource, CapturedState } from './restore.ts';

/** One three-way merge: applies what happened between `base` and `theirs` to the state so far. */
export interface ComposeStep {
  base: CapturedState;
  theirs: CapturedState;
}

/** A repository inside another one, with its path in the outer one. `side`: whether now or the change has it. */
export interface InsideRepository {
  path: string;
  side: 'now' | 'change';
}

export interface ComposeRepository {
  /** What the store holds of the repository, and the state to begin with: that of now. */
  known: KnownRepository;
  /** It is not in the sandbox. `known` is then the whole state of the other side. */
  isNew?: boolean;
  /**
   * For a new repository: the capture of now took the directory in its place for a repository. Files of the
   * outer repository there are included.
   */
  isEntered?: boolean;
  objectFormat: 'sha1' | 'sha256';
  partial?: boolean;
  /** Repositories inside it that only one side has. Without this, their files would be in two repositories. */
  inside?: InsideRepository[];
  /** Applied one after the other. Without any, it stays as it is, and only `inside` is looked at. */
  steps: ComposeStep[];
  /** Only these files and directories in it. Absent: all of it, with HEAD, branches and index. */
  paths?: string[];
  /** Bundles to bring in first; empty when the sandbox has every object. */
  bundles: BundleSource[];
}

export interface ComposeRequest
  extends Pick<
    CaptureRequest,
    | 'sessionId'
    | 'projectsRoot'
    | 'toolExecutionId'
    | 'messageId'
    | 'reason'
    | 'include'
    | 'knownBases'
    | 'timeoutMs'
    | 'maxInlineBytes'
  > {
  repositories: ComposeRepository[];
  /** The capture of now that the composition is made from. */
  nowTag: string;
  /**
   * Repositories that now has and the result does not have. `tag`: the capture of this session that knows
   * what their directories held without them.
   */
  gone: { path: string; tag?: string }[];
  /** Files that the steps bring, and that have conflict markers which their base does not have, are conflicts. */
  refusesMarkers: boolean;
  /** Writes conflicts into the files as git does, between markers with these names. */
  markers: boolean;
  labels: { ours: string; theirs: string };
  /** Whether to make bundles. A plan needs none. */
  isExported: boolean;
}

export interface ComposeReport extends CaptureReport {
  conflicts: Conflict[];
  /** Paths of the request that no state has, relative to the projects root. */
  unknownPaths: string[];
  /** Repositories whose objects are not in the sandbox: bring their bundles. */
  missing: string[];
  /** Repositories that the sandbox's git cannot merge, because it is too old. */
  unsupported: string[];
  /** Repositories whose HEAD, branches or index both sides changed. Those of now stay. */
  hostKept: string[];
  /** Repositories that take HEAD, branches and index from the other side. */
  hostTaken: string[];
  /** Lines for people, each with its repository: files that stay although the other side does not have them. */
  warnings: string[];
}

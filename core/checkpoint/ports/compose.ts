/** The request and the report of a composition: captures made from captures, without a look at the working files. */
import type { CONFLICT_KINDS } from '../../../contract/rollback-answers.ts';
import type { CaptureReport, CaptureRequest, KnownRepository } from './capture.ts';
import type { BundleSource, CapturedState } from './restore.ts';

/** One three-way merge: what happened between `base` and `theirs` happens to the state so far. */
export interface ComposeStep {
  base: CapturedState;
  theirs: CapturedState;
}

/** A repository inside another one, by its path in it. `side`: which side has it, the state of now or what changes it. */
export interface InsideRepository {
  path: string;
  side: 'now' | 'change';
}

export interface ComposeRepository {
  /** What the store has of the repository, and the state to begin with: that of now. */
  known: KnownRepository;
  /** It is not in the sandbox: `known` is the state of the other side, whole. */
  isNew?: boolean;
  /** A new one in whose place now was captured as well: files of the repository around it go with it. */
  isEntered?: boolean;
  objectFormat: 'sha1' | 'sha256';
  partial?: boolean;
  /** Repositories inside it that only one side has: its files there would be in two repositories. */
  inside?: InsideRepository[];
  /** One after the other. Without any, it stays as it is, and only `inside` is looked at. */
  steps: ComposeStep[];
  /** Only these files and directories in it. Without any: all of it, with HEAD, branches and index. */
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
   * Repositories that the result does not have and now has. `tag`: the capture of this session that says what
   * their directories held without them.
   */
  gone: { path: string; tag?: string }[];
  /** Takes conflicts as git writes them into files, between markers with these names. */
  markers: boolean;
  labels: { ours: string; theirs: string };
  /** Makes bundles. A plan needs none. */
  isExported: boolean;
}

export type ConflictKind = (typeof CONFLICT_KINDS)[number];

/** A path that both sides changed in ways that do not go together. */
export interface Conflict {
  repository: string;
  /** In the repository; `.` for the repository itself. */
  path: string;
  kind: ConflictKind;
  message: string;
}

export interface ComposeReport extends CaptureReport {
  conflicts: Conflict[];
  /** Paths of the request that no state has, relative to the projects root. */
  unknownPaths: string[];
  /** Repositories whose objects are not in the sandbox: bring their bundles. */
  missing: string[];
  /** Repositories that the sandbox's git cannot merge, because it is too old. */
  unsupported: string[];
  /** Repositories whose HEAD, branches or index both sides changed: those of now stay. */
  hostKept: string[];
  /** Repositories that have HEAD, branches and index of the other side. */
  hostTaken: string[];
  /** Lines for people, with the repository: files that stay although the other side does not have them. */
  warnings: string[];
}

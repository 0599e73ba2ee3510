/** The request and the report of who wrote the lines of a file, and where a path is a file. */
import type { BundleSource } from './restore.ts';

/** One state of a repository, with the states that it came from, by their places in the list: the first parent first. */
export interface BlameNode {
  /** Null: the repository was not there. */
  tree: string | null;
  parents: readonly number[];
  /** The commit that the repository's own history had here; a parent too, where the sandbox can read it. */
  commit?: string;
}

export interface BlameRequest {
  sessionId: string;
  projectsRoot: string;
  /** Path of the repository. */
  path: string;
  objectFormat: 'sha1' | 'sha256';
  /** In the repository. */
  file: string;
  /** Each comes after its parents. The last one is that of the file. */
  nodes: readonly BlameNode[];
  /** Commits that bundles stand on: the report says which of them are there. */
  bases: readonly string[];
  /** What is below its boundary is nowhere, so without that boundary its commits are not looked at. */
  shallow: boolean;
  from: number;
  /** Absent: to the end. */
  to?: number;
  /** Most lines of the report. */
  mostLines: number;
  maxFileBytes: number;
  /** To bring in first, for this call alone; each base before its links. */
  bundles: readonly BundleSource[];
  timeoutMs: number;
}

/** What a line came with: one of the nodes, or a commit of the repository's own history. */
export type BlamedBy = { path: string } & (
  | { node: number }
  | { commit: string; author: string; authoredAt: string; summary: string }
);

export interface BlamedLine {
  text: string;
  /** Its place in `sources`. */
  source: number;
  lineThere: number;
}

export type BlameReport =
  /** Some of the captures are not in the sandbox. `bases`: those of the request that are. */
  | { kind: 'missing'; nodes: number[]; bases: string[] }
  | { kind: 'absent'; removedBy?: BlamedBy }
  | { kind: 'directory' | 'link' | 'submodule' | 'binary' }
  | { kind: 'too-large'; sizeBytes: number }
  | {
      kind: 'lines';
      total: number;
      lines: BlamedLine[];
      sources: BlamedBy[];
      /** The commits of nodes from which the repository's own history was read. */
      ownCommits: string[];
    };

/** Looks for a path in the trees of repositories. */
export interface FindFileRequest {
  sessionId: string;
  projectsRoot: string;
  file: string;
  trees: readonly { path: string; tree: string }[];
  timeoutMs: number;
}

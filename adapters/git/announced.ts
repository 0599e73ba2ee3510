/** What a capture announces beside its report: bundles, and records of changes. */
import type { HostChange } from '../../contract/change-answers.ts';
import { MIB } from '../../contract/sizes.ts';
import type { CapturedRepository } from '../../core/checkpoint/ports/capture.ts';

/** Bundles up to this many bytes together come back inside the command's own output: one round trip. */
export const OUTPUT_BYTES = 64 * 1024;

/** A bundle as the sandbox announced it: where it lies in the sandbox, and how it travels. */
export interface AnnouncedBundle {
  name: string;
  repositoryPath: string;
  kind: 'base' | 'link';
  commit: string;
  base?: string;
  chain?: CapturedRepository['chain'];
  sizeBytes: number;
  sha256: string;
  carry: 'inline' | 'file' | 'upload' | 'stream';
}

/** Most bytes of records as the sandbox sends them: of one repository, and of all together. */
export const CHANGES_LIMITS = { each: MIB, all: 4 * MIB } as const;

/** What is announced about a record, beside its file. */
export interface AnnouncedChanges {
  path: string;
  host?: HostChange;
  isCut: boolean;
  /** Git's own summary of all files, when the list is cut. */
  totals?: string;
  problem?: string;
  /** Absent when no file differs, or the record could not be made. */
  file?: RecordFile;
}

export interface RecordFile {
  sizeBytes: number;
  carry: 'inline' | 'file';
  isPacked: boolean;
}

/** What a git harness keeps of one capture. */
import type { CapturedRepository, CaptureReport } from '../../core/checkpoint/ports/capture.ts';
import type { BundleSource } from '../../core/checkpoint/ports/restore.ts';

export interface Snapshot {
  repositories: CapturedRepository[];
  report: CaptureReport;
  tag: string;
  /** Every bundle a restore of a repository needs, base first. */
  chains: Map<string, BundleSource[]>;
}

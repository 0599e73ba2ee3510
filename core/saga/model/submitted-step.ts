/** A step that was submitted to an interactive saga. */
import type { PinnedStep } from './plan.ts';

/** A submitted step as it is stored, once per saga and id. */
export interface SubmittedStep {
  /** The id that the caller gave it. */
  stepId: string;
  index: number;
  /** Ledger sequence of its `submitted` entry. */
  seq: number;
  requestHash: string;
  planHash: string;
  step: PinnedStep;
}

import { MIB } from '../../contract/sizes.ts';
import { HOUR_MS } from '../../contract/times.ts';

export const DEFAULTS = {
  maxFileBytes: 256 * MIB,
  retentionDays: 30,
  maxDepth: 8,
  /** Bundles up to this size travel through the function. */
  maxInlineBytes: 8 * MIB,
  timelineLimit: 50,
  /** Life of a rehydrated sandbox unless the caller says otherwise. */
  sandboxTimeoutMs: HOUR_MS,
} as const;

import { GIB, MIB } from '../../contract/sizes.ts';
import { HOUR_MS } from '../../contract/times.ts';

export const DEFAULTS = {
  maxFileBytes: 256 * MIB,
  /** Files in no repository that one session captures: each capture looks at all of them. */
  mostLooseFiles: 50_000,
  mostLooseBytes: GIB,
  retentionDays: 30,
  maxDepth: 8,
  /** Bundles up to this size travel through the function. */
  maxInlineBytes: 8 * MIB,
  timelineLimit: 50,
  /** Life of a rehydrated sandbox unless the caller says otherwise. */
  sandboxTimeoutMs: HOUR_MS,
} as const;

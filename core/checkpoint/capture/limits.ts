/** Limits on chains, and on the bytes that travel through a function. Tests set other limits. */
import { MIB } from '../../../contract/sizes.ts';
import { DEFAULTS } from '../defaults.ts';

export interface BundleLimits {
  /** Links of one chain. */
  maxLinks: number;
  /** A chain below this size is never too heavy, because starting over would cost more than it saves. */
  chainFloorBytes: number;
  /**
   * Limit for bundles that travel through the function, all of one call together. The rest goes by
   * presigned URLs.
   */
  carriedBytes: number;
}

export const BUNDLE_LIMITS: BundleLimits = {
  maxLinks: 64,
  chainFloorBytes: 4 * MIB,
  carriedBytes: DEFAULTS.maxInlineBytes,
};

/** Limits on chains, and on the bytes that travel through a function. Tests set other limits. */
import { KIB, MIB } from '../../../contract/sizes.ts';
import { DEFAULTS } from '../defaults.ts';

export interface BundleLimits {
  /** Links of one chain. */
  maxLinks: number;
  /** Links of a light chain. Each link is one more object to ask for, and starting over writes little. */
  maxLightLinks: number;
  /** A chain is light while all of its links together have at most this size. */
  lightChainBytes: number;
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
  maxLightLinks: 32,
  lightChainBytes: 256 * KIB,
  chainFloorBytes: 4 * MIB,
  carriedBytes: DEFAULTS.maxInlineBytes,
};

/** What bounds chains, and what travels through a function. A test crosses other limits than an agent does. */
import { MIB } from '../../../contract/sizes.ts';
import { DEFAULTS } from '../defaults.ts';

export interface BundleLimits {
  /** Links of one chain. */
  maxLinks: number;
  /** Below this a chain is never too heavy: starting over would cost more than it saves. */
  chainFloorBytes: number;
  /** Bundles that travel through the function, all of one call together; what is over that goes by a presigned URL. */
  carriedBytes: number;
}

export const BUNDLE_LIMITS: BundleLimits = {
  maxLinks: 64,
  chainFloorBytes: 4 * MIB,
  carriedBytes: DEFAULTS.maxInlineBytes,
};

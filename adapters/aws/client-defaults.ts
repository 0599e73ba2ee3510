/**
 * Retries and timeouts of every AWS client: a few tries with the SDK's own backoff, and no call that hangs
 * for ever.
 */
export const CLIENT_DEFAULTS = {
  maxAttempts: 4,
  requestHandler: { connectionTimeout: 3_000, requestTimeout: 10_000, throwOnRequestTimeout: true },
} as const;

/** Bundles may be large, so their requests get more time. */
export const BULK_DEFAULTS = {
  maxAttempts: 4,
  requestHandler: { connectionTimeout: 3_000, requestTimeout: 60_000, throwOnRequestTimeout: true },
} as const;

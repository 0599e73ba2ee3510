/** Fetches the two documents of an OIDC issuer: its configuration and its keys. */
import { WalkbackError } from '../../core/shared/errors.ts';

const PATIENCE_MS = 3_000;
/** The keys of the largest issuers are a few KiB. */
const MAX_BYTES = 256 * 1024;

/** https, or the embedded cloud on this machine. */
const isTrustworthy = ({ protocol, hostname }: URL): boolean =>
  protocol === 'https:' || (protocol === 'http:' && /^(?:localhost|127\.0\.0\.1|\[::1\])$/.test(hostname));

const requireTrustworthy = (url: string): string => {
  if (URL.canParse(url) && isTrustworthy(new URL(url))) return url;
  throw new WalkbackError(
    'ConfigurationError',
    `${url} is no https address, so its keys could be anybody's.`,
  );
};

const unavailable = (url: string, cause: unknown): WalkbackError =>
  new WalkbackError('IdentityUnavailable', `The issuer of tokens does not answer: ${url}`, {
    cause,
    retryable: true,
  });

/** The bytes of a small document. Redirects are not followed, because only the given address is trusted. */
export const fetchDocument = async (url: string): Promise<ArrayBuffer> => {
  requireTrustworthy(url);
  try {
    const signal = AbortSignal.timeout(PATIENCE_MS);
    const response = await fetch(url, { redirect: 'error', signal, headers: { accept: 'application/json' } });
    if (!response.ok) throw new Error(`status ${response.status}`);
    const bytes = await response.arrayBuffer();
    if (bytes.byteLength > MAX_BYTES) throw new Error(`${bytes.byteLength} bytes`);
    return bytes;
  } catch (cause) {
    throw unavailable(url, cause);
  }
};

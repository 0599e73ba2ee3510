/** Rules for the addresses of tools that are HTTP endpoints. */

const MAX_LENGTH = 2048;
const LOOPBACK = /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;

/**
 * The rule that an endpoint breaks, by its name and in words. Never quotes the endpoint, because it may
 * hold a password.
 */
export const endpointProblem = (endpoint: string): string | undefined => {
  const url = URL.parse(endpoint);
  if (url === null || /\s/.test(endpoint) || endpoint.length > MAX_LENGTH) {
    return `endpoint-url: it must be an absolute URL of at most ${MAX_LENGTH} characters`;
  }
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && LOOPBACK.test(url.hostname))) {
    return 'endpoint-scheme: it must be https, or http on a loopback host';
  }
  if (url.username !== '' || url.password !== '') {
    return 'endpoint-credentials: it must hold none; requests are signed';
  }
  if (endpoint.includes('#')) return 'endpoint-fragment: it must have none';
  return undefined;
};

/** An endpoint may be on this host only where functions and tools share one. */
export const isLoopback = (endpoint: string): boolean => LOOPBACK.test(URL.parse(endpoint)?.hostname ?? '');

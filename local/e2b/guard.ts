/**
 * Decides who may use the servers of this cloud. They run commands on the user's machine, so no web page may
 * reach them (no `Origin`, and only a loopback `Host`, against DNS rebinding), nor anyone without the
 * secrets.
 */

const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d{1,5})?$/i;

/** Like `refusal`, for the headers of Node's own server. */
export const refusalOf = ({ origin, host }: { origin?: string; host?: string }): string | undefined => {
  if (origin !== undefined) return 'Requests from web pages are refused.';
  if (!LOOPBACK.test(host ?? '')) return 'Only requests to a loopback host are answered.';
  return undefined;
};

/** Why a request is refused before anything else is looked at; undefined when it is accepted. */
export const refusal = (headers: Headers): string | undefined =>
  refusalOf({ origin: headers.get('origin') ?? undefined, host: headers.get('host') ?? undefined });

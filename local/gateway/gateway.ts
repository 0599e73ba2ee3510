/**
 * The HTTP API of the embedded cloud: the template's routes in front of the functions of this process, with
 * the authorizer, the limits and the errors of API Gateway. It is as strict as API Gateway, except that
 * requests are not throttled.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { Hono } from 'hono';
import { jsonBytes } from '../../core/shared/json-bytes.ts';
import type { TokenKey } from '../identity/keys.ts';
import type { LocalFunctions } from '../lambda/functions.ts';
import { createAuthorizer } from './authorizer.ts';
import { decodedPath, eventOf, responseOf } from './event.ts';
import { matchRoute, type RoutePlan } from './plan-routes.ts';

/** Limit of request line and headers together. */
const MAX_HEADER_BYTES = 10_240;
const MAX_BODY_BYTES = 10 * 1024 * 1024;
/** Limit of an event, which is Lambda's. */
const MAX_EVENT_BYTES = 6 * 1024 * 1024;

interface GatewayOptions {
  routes: readonly RoutePlan[];
  functions: LocalFunctions;
  key: TokenKey;
}

const says = (status: number, message: string, headers: Record<string, string> = {}): Response =>
  new Response(JSON.stringify({ message }), {
    status,
    headers: { 'content-type': 'application/json', ...headers },
  });

const headerBytes = (request: Request): number => {
  const { pathname, search } = new URL(request.url);
  const line = request.method.length + pathname.length + search.length;
  return [...request.headers].reduce(
    (sum, [name, value]) => sum + name.length + Buffer.byteLength(value),
    line,
  );
};

export const createGateway = ({ routes, functions, key }: GatewayOptions): Hono => {
  const authorize = createAuthorizer(key);

  const invoke = async (route: RoutePlan, event: object): Promise<Response> => {
    const fn = functions.find(route.functionName);
    if (fn === undefined) return says(500, 'Internal Server Error');
    const ending = new AbortController();
    const late = delay(route.timeoutMs, undefined, { signal: ending.signal }).catch(() => undefined);
    const result = await Promise.race([functions.invoke(fn, event), late]);
    ending.abort();
    if (result === undefined) return says(503, 'Service Unavailable');
    return (result.failed ? undefined : responseOf(result.payload)) ?? says(500, 'Internal Server Error');
  };

  const serve = async (request: Request): Promise<Response> => {
    // A function would have to make a `Request` of it, which is impossible.
    if (request.method === 'TRACE') return says(405, 'Method Not Allowed');
    if (headerBytes(request) > MAX_HEADER_BYTES) return says(431, 'Request Header Fields Too Large');
    const path = decodedPath(new URL(request.url).pathname);
    if (path === undefined) return says(400, 'Bad Request');
    const matched = matchRoute(routes, request.method, path);
    if (matched === undefined) return says(404, 'Not Found');
    const { authorizer } = matched.route;
    const authorized =
      authorizer && (await authorize(request.headers.get('authorization') ?? undefined, authorizer));
    if (authorized?.allowed === false) {
      const { status, why } = authorized;
      if (status === 403) return says(403, 'Forbidden');
      const error = why === '' ? '' : ` scope="" error="invalid_token" error_description="${why}"`;
      return says(401, 'Unauthorized', { 'www-authenticate': `Bearer${error}` });
    }
    const body = Buffer.from(await request.arrayBuffer());
    if (body.byteLength > MAX_BODY_BYTES) return says(413, 'Request Entity Too Large');
    const event = eventOf({ request, matched, authorized, path, body });
    if (jsonBytes(event) > MAX_EVENT_BYTES) return says(413, 'Request Entity Too Large');
    return invoke(matched.route, event);
  };

  const app = new Hono();
  app.all('*', (c) => serve(c.req.raw));
  return app;
};

/**
 * Requests as an HTTP API of API Gateway hands them to a function (payload 2.0), and answers as it takes them.
 * Hono has an adapter of its own, which puts the path into an address as it comes: the gateway has decoded it, and a
 * decoded question mark would begin a query.
 */
import * as z from 'zod';
import { parseInput } from '../core/shared/parse-input.ts';

/** A `Request` cannot be made of these. */
const isMethod = (method: string): boolean => !/^(?:connect|trace|track)$/i.test(method);

const eventSchema = z.object({
  version: z.literal('2.0'),
  rawPath: z.string().startsWith('/'),
  rawQueryString: z.string(),
  headers: z.record(z.string(), z.string()).default({}),
  cookies: z.array(z.string()).default([]),
  requestContext: z.object({
    domainName: z.string().min(1),
    http: z.object({ method: z.string().min(1).refine(isMethod, 'no method of a request') }),
  }),
  body: z.string().optional(),
  isBase64Encoded: z.boolean().default(false),
});

/** As API Gateway takes it. */
export interface GatewayAnswer {
  statusCode: number;
  headers: Record<string, string>;
  cookies: string[];
  body: string;
  isBase64Encoded: boolean;
}

/** Lambda's limit for an answer, which holds the body as a JSON text. */
const MAX_ANSWER_BYTES = 6 * 1024 * 1024;

/** Only the embedded cloud is reached there, and it has no certificate. */
const LOOPBACK = /^(?:localhost|127\.0\.0\.1)(?::\d+)?$/;

const originOf = (domainName: string): string =>
  `${LOOPBACK.test(domainName) ? 'http' : 'https'}://${domainName}`;

/** Encodes what was decoded; what is encoded already stays. */
const encodedPath = (path: string): string =>
  path
    .split('/')
    .map((segment) =>
      encodeURIComponent(segment).replaceAll(/%3A|%40|%24|%2C|%3B|%2B|%3D|%26/g, decodeURIComponent),
    )
    .join('/');

/** Throws `InvalidInput` for what no gateway sends. */
export const toRequest = (given: unknown): Request => {
  const event = parseInput(eventSchema, given);
  const { domainName, http } = event.requestContext;
  const headers = new Headers();
  for (const [name, value] of Object.entries(event.headers))
    headers.set(name, value.replaceAll(/[^\t\x20-\x7e\x80-\xff]/g, '?'));
  if (event.cookies.length > 0) headers.set('cookie', event.cookies.join('; '));
  const query = event.rawQueryString === '' ? '' : `?${event.rawQueryString}`;
  const hasBody = event.body !== undefined && http.method !== 'GET' && http.method !== 'HEAD';
  return new Request(`${originOf(domainName)}${encodedPath(event.rawPath)}${query}`, {
    method: http.method,
    headers,
    ...(hasBody && { body: Buffer.from(event.body ?? '', event.isBase64Encoded ? 'base64' : 'utf8') }),
  });
};

const isText = (headers: Headers): boolean =>
  !headers.has('content-encoding') &&
  /^(?:text\/|application\/(?:json|problem\+json|javascript))/.test(
    headers.get('content-type') ?? 'text/plain',
  );

/** `tooLarge`: what is answered instead of more than Lambda takes. */
export const toAnswer = async (
  response: Response,
  tooLarge: () => Response | Promise<Response>,
): Promise<GatewayAnswer> => {
  const bytes = Buffer.from(await response.arrayBuffer());
  const isBase64Encoded = !isText(response.headers);
  const headers = Object.fromEntries([...response.headers].filter(([name]) => name !== 'set-cookie'));
  const answer: GatewayAnswer = {
    statusCode: response.status,
    headers,
    cookies: response.headers.getSetCookie(),
    body: bytes.toString(isBase64Encoded ? 'base64' : 'utf8'),
    isBase64Encoded,
  };
  if (Buffer.byteLength(JSON.stringify(answer)) <= MAX_ANSWER_BYTES) return answer;
  return toAnswer(await tooLarge(), () => new Response('', { status: 413 }));
};

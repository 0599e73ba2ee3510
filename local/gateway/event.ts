/** Makes events and reads answers of an HTTP API with payload 2.0, like API Gateway. */
import { randomUUID } from 'node:crypto';
import * as z from 'zod';
import type { Authorized } from './authorizer.ts';
import type { Matched } from './plan-routes.ts';

const answerSchema = z.object({
  statusCode: z.coerce.number().int().min(100).max(599),
  headers: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])).default({}),
  cookies: z.array(z.string()).default([]),
  body: z.string().default(''),
  isBase64Encoded: z.boolean().default(false),
});

/** Everything else reaches a function as base64, including the forms of pages. */
const IS_TEXT = /^(?:text\/|application\/(?:[\w.-]+\+)?(?:json|xml|javascript))/;

/**
 * API Gateway decodes the path, and loses what follows a decoded question mark. Undefined when it cannot be
 * decoded.
 */
export const decodedPath = (pathname: string): string | undefined => {
  try {
    return decodeURIComponent(pathname).split('?')[0];
  } catch {
    return undefined;
  }
};

const joined = (entries: Iterable<[string, string]>): Record<string, string> | undefined => {
  const all: Record<string, string> = {};
  for (const [name, value] of entries) all[name] = all[name] === undefined ? value : `${all[name]},${value}`;
  return Object.keys(all).length === 0 ? undefined : all;
};

interface Parts {
  request: Request;
  matched: Matched;
  authorized: Extract<Authorized, { allowed: true }> | undefined;
  path: string;
  body: Buffer;
}

export const eventOf = ({ request, matched, authorized, path, body }: Parts) => {
  const url = new URL(request.url);
  const { cookie, authorization, ...others } = Object.fromEntries(request.headers);
  const isText = IS_TEXT.test(request.headers.get('content-type') ?? '');
  const queryStringParameters = joined(url.searchParams);
  const now = Date.now();
  return {
    version: '2.0',
    routeKey: matched.route.key,
    rawPath: path,
    rawQueryString: url.search.slice(1),
    ...(cookie !== undefined && { cookies: cookie.split(/; */) }),
    headers: {
      ...others,
      ...(authorization !== undefined && { authorization }),
      'x-forwarded-proto': 'http',
    },
    ...(queryStringParameters && { queryStringParameters }),
    requestContext: {
      accountId: '000000000000',
      apiId: 'local',
      domainName: url.host,
      domainPrefix: 'local',
      http: {
        method: request.method,
        path,
        protocol: 'HTTP/1.1',
        sourceIp: '127.0.0.1',
        userAgent: others['user-agent'] ?? '',
      },
      requestId: randomUUID(),
      routeKey: matched.route.key,
      stage: '$default',
      time: new Date(now).toISOString(),
      timeEpoch: now,
      ...(authorized && { authorizer: { jwt: { claims: authorized.claims, scopes: authorized.scopes } } }),
    },
    ...(Object.keys(matched.parameters).length > 0 && { pathParameters: matched.parameters }),
    ...(body.byteLength > 0 && { body: body.toString(isText ? 'utf8' : 'base64') }),
    isBase64Encoded: body.byteLength > 0 && !isText,
  };
};

/**
 * The response for a function's answer. An answer without a status is the body, as JSON. Undefined: a gateway
 * cannot send it.
 */
export const responseOf = (payload: string): Response | undefined => {
  const given: unknown = JSON.parse(payload);
  if (typeof given !== 'object' || given === null || !('statusCode' in given)) {
    return new Response(payload, { headers: { 'content-type': 'application/json' } });
  }
  const answer = answerSchema.safeParse(given);
  if (!answer.success) return undefined;
  const { statusCode, headers, cookies, body, isBase64Encoded } = answer.data;
  const sent = new Headers();
  for (const [name, value] of Object.entries(headers)) sent.set(name, String(value));
  for (const cookie of cookies) sent.append('set-cookie', cookie);
  const isEmpty = [204, 205, 304].includes(statusCode);
  return new Response(isEmpty ? null : Buffer.from(body, isBase64Encoded ? 'base64' : 'utf8'), {
    status: statusCode,
    headers: sent,
  });
};

/**
 * The HTTP API: `POST /v1/<function>` for every function that people may call. The function of the row does the work,
 * with its own schema; here a request becomes a call, and what it answered or threw becomes a status.
 */
import { type Context, Hono } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { compress } from 'hono/compress';
import { errorRow } from '../contract/errors.ts';
import type { CallableName } from '../contract/functions.ts';
import {
  API_BASE,
  API_RETRY_SECONDS,
  IDENTITY_FIELDS,
  MAX_API_BODY_BYTES,
  OPENAPI_PATH,
} from '../contract/http-api.ts';
import { httpStatusOf } from '../contract/http-status.ts';
import { jsonProblem, MAX_JSON_DEPTH } from '../contract/json.ts';
import { isPeopleFunction } from '../contract/people.ts';
import type { PersonCalls } from '../core/people/call-as.ts';
import { isWalkbackError, WalkbackError } from '../core/shared/errors.ts';

export interface ApiOptions {
  calls: Pick<PersonCalls, 'call'>;
  /** Told of every error that is not a refusal. */
  failed: (error: unknown) => void;
}

/** What a field may hold, and the fields around it. The schema of the function knows each better; here it must only be passed on. */
const MAX_BODY_DEPTH = MAX_JSON_DEPTH + 20;

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const bearerOf = (c: Context): string => {
  const [, token] = /^Bearer +(\S+)$/i.exec(c.req.header('authorization') ?? '') ?? [];
  if (token !== undefined) return token;
  throw new WalkbackError('ProofRequired', 'Send the token of whoever asks: Authorization: Bearer <token>.');
};

/** The function that a route is of. */
const functionOf = (c: Context): CallableName => {
  const name = c.req.param('function') ?? '';
  if (isPeopleFunction(name)) return name;
  throw new WalkbackError('NoSuchRoute', 'There is no function of this name here.');
};

/** What is no UTF-8 would become other characters, also in what the ledger keeps for good. A mark at its beginning is none of it. */
const utf8Of = (body: ArrayBuffer): string => {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(body);
  } catch (cause) {
    throw new WalkbackError('InvalidInput', 'The body is not UTF-8.', { cause });
  }
};

const inputOf = async (c: Context): Promise<Record<string, unknown>> => {
  if (!/^application\/json[ \t]*(?:;|$)/i.test(c.req.header('content-type') ?? '')) {
    throw new WalkbackError('InvalidInput', 'The request must be JSON: Content-Type: application/json.');
  }
  if (!/^(?:identity)?$/i.test(c.req.header('content-encoding') ?? '')) {
    throw new WalkbackError('InvalidInput', 'Send the body as it is, without Content-Encoding.');
  }
  const text = utf8Of(await c.req.arrayBuffer());
  let input: unknown;
  try {
    input = text === '' ? {} : JSON.parse(text);
  } catch (cause) {
    throw new WalkbackError('InvalidInput', 'The body is not JSON.', { cause });
  }
  if (!isObject(input)) throw new WalkbackError('InvalidInput', 'The body must be a JSON object.');
  const problem = jsonProblem(input, MAX_BODY_DEPTH);
  if (problem !== undefined) throw new WalkbackError('InvalidInput', `The body ${problem}.`);
  const told = IDENTITY_FIELDS.filter((name) => Object.hasOwn(input, name));
  if (told.length === 0) return input;
  throw new WalkbackError(
    'InvalidInput',
    `${told.join(', ')}: who asks is who the token names; leave it out.`,
  );
};

const publicError = (error: unknown): WalkbackError =>
  isWalkbackError(error)
    ? error
    : new WalkbackError('InternalError', 'Something went wrong inside Walkback. Call again.', {
        cause: error,
      });

/** What the caller sees of an error. */
const failure = (error: WalkbackError): Response => {
  const { name, message, retryable } = error;
  const status = httpStatusOf(name);
  const body = { error: { name, message, advice: errorRow(name)?.advice ?? '', retryable } };
  const headers = new Headers({ 'content-type': 'application/json', 'cache-control': 'no-store' });
  if (status === 401) headers.set('www-authenticate', 'Bearer error="invalid_token"');
  if (retryable && [202, 429, 503].includes(status)) headers.set('retry-after', String(API_RETRY_SECONDS));
  return new Response(JSON.stringify(body), { status, headers });
};

const methodNotAllowed = (c: Context, allowed: string): Response => {
  const response = failure(
    new WalkbackError('MethodNotAllowed', `This route takes ${allowed}, and not ${c.req.method}.`),
  );
  response.headers.set('allow', allowed);
  return response;
};

/** An answer that is larger than the way back. */
export const answerTooLarge = (): Response =>
  failure(new WalkbackError('AnswerTooLarge', 'The answer is larger than 6 MB. Ask for less.'));

export const createApi = ({ calls, failed }: ApiOptions): Hono => {
  const app = new Hono();
  app.use(async (c, next) => {
    await next();
    c.header('x-content-type-options', 'nosniff');
    c.header('strict-transport-security', 'max-age=63072000');
  });
  app.use(compress());

  app.get(OPENAPI_PATH, async (c) => {
    const { openApiDocument } = await import('./openapi.ts');
    return c.json(openApiDocument(), 200, { 'cache-control': 'public, max-age=300' });
  });
  app.all(OPENAPI_PATH, (c) => methodNotAllowed(c, 'GET, HEAD'));

  app.use(
    `${API_BASE}/*`,
    bodyLimit({
      maxSize: MAX_API_BODY_BYTES,
      onError: () =>
        failure(new WalkbackError('RequestTooLarge', `The body is larger than ${MAX_API_BODY_BYTES} bytes.`)),
    }),
  );
  app.post(`${API_BASE}/:function`, async (c) => {
    const token = bearerOf(c);
    const name = functionOf(c);
    const answer = await calls.call(token, name, await inputOf(c));
    return c.body(JSON.stringify(answer), 200, {
      'content-type': 'application/json',
      'cache-control': 'no-store',
    });
  });

  app.all(`${API_BASE}/:function`, (c) => {
    functionOf(c);
    return methodNotAllowed(c, 'POST');
  });

  app.notFound(() => failure(new WalkbackError('NoSuchRoute', 'There is no such route.')));
  app.onError((error) => {
    const shown = publicError(error);
    if (errorRow(shown.name)?.kind === 'fault') failed(error);
    return failure(shown);
  });
  return app;
};

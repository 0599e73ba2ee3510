/** The OpenAPI document of the HTTP API, made of the rows: the same schemas that the functions parse with. */
import * as z from 'zod';
import { ERROR_NAMES } from '../contract/errors.ts';
import type { NamedRow } from '../contract/functions.ts';
import { API_BASE, API_PATIENCE_SECONDS, IDENTITY_FIELDS, OPENAPI_PATH } from '../contract/http-api.ts';
import { httpStatusOf } from '../contract/http-status.ts';
import { isPersonRole, PEOPLE_ROWS } from '../contract/people.ts';
import manifest from '../package.json' with { type: 'json' };

type Schema = Record<string, unknown>;

/** What a caller may leave in is listed; what later releases add to an answer is no error. */
const schemaOf = (schema: z.ZodType, io: 'input' | 'output'): Schema => {
  const { $schema: _, ...made } = z.toJSONSchema(schema, {
    io,
    unrepresentable: 'any',
    override: ({ jsonSchema }) => {
      if (io === 'output') delete jsonSchema.additionalProperties;
    },
  });
  if (JSON.stringify(made).includes('"$ref"'))
    throw new Error('a schema refers to itself: put it under components');
  return made;
};

const isIdentity = (name: string): boolean => IDENTITY_FIELDS.some((field) => field === name);

/** Who asks is in the token. */
const withoutIdentity = ({ properties, required, ...rest }: Schema): Schema => ({
  ...rest,
  properties: Object.fromEntries(Object.entries(properties ?? {}).filter(([name]) => !isIdentity(name))),
  ...(Array.isArray(required) && { required: required.filter((name) => !isIdentity(String(name))) }),
});

const json = (description: string, schema: Schema): Schema => ({
  description,
  content: { 'application/json': { schema } },
});

const ref = (name: string): Schema => ({ $ref: `#/components/responses/${name}` });

const MEANINGS: Readonly<Record<number, string>> = {
  400: 'The request is wrong.',
  401: 'Nobody is signed in: no token, or one that is not accepted.',
  403: 'The person may not do this, or the token lacks the scope.',
  404: 'There is no such thing.',
  409: 'Refused as things stand.',
  413: 'The request or the answer is too large.',
  429: 'Too many requests.',
  431: 'The headers are larger than 10,240 bytes.',
  500: 'The function of the API did not answer as one.',
  502: 'Something failed that should not have.',
  503: 'A service did not answer; the same request may work later.',
};

const STATUSES = Object.keys(MEANINGS);

/** The gateway answers these by itself too, before a function is asked or when it has not answered. */
const OF_GATEWAY = ['400', '401', '403', '413', '429', '503'];
const OF_GATEWAY_ALONE = ['431', '500'];

const schemaRef = (name: string): Schema => ({ $ref: `#/components/schemas/${name}` });

const bodyOf = (status: string): Schema => {
  if (OF_GATEWAY_ALONE.includes(status)) return schemaRef('GatewayError');
  return OF_GATEWAY.includes(status)
    ? { anyOf: [schemaRef('Error'), schemaRef('GatewayError')] }
    : schemaRef('Error');
};

const RETRY_AFTER: Schema = {
  'Retry-After': {
    schema: { type: 'integer' },
    description: 'seconds; of the body `error`, when it is retryable',
  },
};

/** What comes beside the body. */
const HEADERS: Readonly<Record<string, Schema>> = {
  401: { 'WWW-Authenticate': { schema: { type: 'string' } } },
  429: RETRY_AFTER,
  503: RETRY_AFTER,
};

/** By status, so that the document says which errors have which. */
const errorsOf = (status: string): string =>
  ERROR_NAMES.filter((name) => String(httpStatusOf(name)) === status).join(', ');

const ERROR_BODY: Schema = {
  type: 'object',
  required: ['error'],
  properties: {
    error: {
      type: 'object',
      required: ['name', 'message', 'advice', 'retryable'],
      properties: {
        name: { type: 'string', description: 'literal: one of the list in docs/functions.md' },
        message: { type: 'string' },
        advice: { type: 'string', description: 'what to do' },
        retryable: { type: 'boolean', description: 'whether the same request may succeed later' },
      },
    },
  },
};

const GATEWAY_BODY: Schema = {
  type: 'object',
  required: ['message'],
  properties: { message: { type: 'string', description: 'of API Gateway itself' } },
};

const operation = ({ name, description, callers, timeoutSeconds, input, answer }: NamedRow): Schema => {
  if (input === undefined) throw new Error(`${name} takes no input`);
  const roles = callers.filter(isPersonRole);
  return {
    operationId: name,
    summary: description,
    description: `For ${roles.join(' and ')}. Ends after ${timeoutSeconds} s at the latest.`,
    tags: roles,
    requestBody: {
      required: true,
      content: { 'application/json': { schema: withoutIdentity(schemaOf(input(), 'input')) } },
    },
    responses: {
      200: json('What the function answered.', answer === undefined ? {} : schemaOf(answer(), 'output')),
      202: ref('StillRunning'),
      ...Object.fromEntries(STATUSES.map((status) => [status, ref(`Status${status}`)])),
    },
  };
};

let made: Schema | undefined;

export const openApiDocument = (): Schema =>
  (made ??= {
    openapi: '3.1.0',
    info: {
      title: 'Walkback',
      version: manifest.version,
      summary: 'What people may do with sessions, sagas and the ledger.',
      description: `Every route is one function of docs/functions.md, and takes what it takes. A request that is not answered within ${API_PATIENCE_SECONDS} seconds is answered 202, and goes on: send the same request again, with the same request id. One without a request id begins anew: when it comes to this each time, ask for less. What API Gateway answers by itself is {"message"}, without a name.`,
      license: { name: 'Unlicensed', identifier: 'LicenseRef-Unlicensed' },
    },
    servers: [{ url: '/', description: 'The output ApiUrl of the stack, or what walkback up prints' }],
    security: [{ person: [] }],
    tags: [...new Set(PEOPLE_ROWS.flatMap(({ callers }) => callers.filter(isPersonRole)))].map((name) => ({
      name,
      description: `What people of the group walkback-${name} may call`,
    })),
    paths: {
      ...Object.fromEntries(PEOPLE_ROWS.map((row) => [`${API_BASE}/${row.name}`, { post: operation(row) }])),
      [OPENAPI_PATH]: {
        get: {
          operationId: 'openapi',
          summary: 'This document',
          security: [],
          responses: { 200: json('This document.', { type: 'object' }) },
        },
      },
    },
    components: {
      securitySchemes: {
        person: {
          type: 'http',
          scheme: 'bearer',
          bearerFormat: 'JWT',
          description: 'An access token of the issuer of the stack, for its audience and scope',
        },
      },
      schemas: { Error: ERROR_BODY, GatewayError: GATEWAY_BODY },
      responses: {
        StillRunning: {
          ...json('The function goes on. Send the same request again.', schemaRef('Error')),
          headers: RETRY_AFTER,
        },
        ...Object.fromEntries(
          STATUSES.map((status) => [
            `Status${status}`,
            {
              ...json(`${MEANINGS[Number(status)] ?? ''} ${errorsOf(status)}`.trim(), bodyOf(status)),
              ...(HEADERS[Number(status)] !== undefined && { headers: HEADERS[Number(status)] }),
            },
          ]),
        ),
      },
    },
  });

/**
 * The only way to the engine: DynamoDB's HTTP protocol on loopback, for requests that are signed with this
 * cloud's key.
 */
import { crc32 } from 'node:zlib';
import { type Context, Hono } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { type AwsCredentials, createVerifier, signedRequest } from '../sigv4.ts';
import type { Answer } from './operations.ts';

/** DynamoDB's own limit for a request. */
const MAX_REQUEST_BYTES = 16 * 1024 * 1024;
const JSON_TYPE = 'application/x-amz-json-1.0';

const reply = (c: Context, { status, text }: Answer): Response =>
  c.body(text, status, { 'content-type': JSON_TYPE, 'x-amz-crc32': String(crc32(text)) });

const refuse = (c: Context, code: string, message: string): Response =>
  reply(c, {
    status: 400,
    text: JSON.stringify({ __type: `com.amazon.coral.service#${code}`, message }),
  });

export const createGateway = (options: {
  operations: (target: string, body: Uint8Array) => Promise<Answer>;
  credentials: AwsCredentials;
}): Hono => {
  const verify = createVerifier({ credentials: options.credentials, service: 'dynamodb' });
  const app = new Hono();
  app.use(
    bodyLimit({
      maxSize: MAX_REQUEST_BYTES,
      onError: (c) => refuse(c, 'SerializationException', 'The request is over 16 MB'),
    }),
  );
  app.all('*', async (c) => {
    const body = new Uint8Array(await c.req.arrayBuffer());
    const refusal = await verify(signedRequest(c.req.raw, body));
    if (refusal !== undefined) return refuse(c, refusal.code, refusal.message);
    return reply(c, await options.operations(c.req.header('x-amz-target') ?? '', body));
  });
  app.onError((error, c) => {
    const text = JSON.stringify({
      __type: 'com.amazonaws.dynamodb.v20120810#InternalServerError',
      message: error.message,
    });
    return reply(c, { status: 500, text });
  });
  return app;
};

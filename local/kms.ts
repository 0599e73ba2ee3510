/**
 * KMS for the signing keys of the template. Each key is made once and stored beside the data, and signs what
 * signed requests ask for.
 */
import { createPublicKey, generateKeyPairSync, sign, verify } from 'node:crypto';
import { join } from 'node:path';
import { Hono } from 'hono';
import * as z from 'zod';
import { readJson, writePrivately } from './private-file.ts';
import { type AwsCredentials, createVerifier, signedRequest } from './sigv4.ts';

const ALGORITHM = 'ECDSA_SHA_256';
const base64 = z.base64().transform((text) => Buffer.from(text, 'base64'));
/** KMS accepts no longer message. */
const MAX_MESSAGE_BYTES = 4096;

const keySchema = z.object({ KeyId: z.string() });
const signSchema = keySchema.extend({
  Message: base64.refine(({ length }) => length <= MAX_MESSAGE_BYTES, `at most ${MAX_MESSAGE_BYTES} bytes`),
  // Node signs messages, not hashes that were made elsewhere.
  MessageType: z.literal('RAW').default('RAW'),
  SigningAlgorithm: z.literal(ALGORITHM),
});
const verifySchema = signSchema.extend({ Signature: base64 });

/** PEM of private keys, by ARN. */
const fileSchema = z.record(z.string(), z.string());

const make = (): string =>
  generateKeyPairSync('ec', {
    namedCurve: 'P-256',
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  }).privateKey;

/** The keys of this cloud: random, made once, kept. */
export const loadSigningKeys = async (
  dataDir: string,
  arns: readonly string[],
): Promise<Record<string, string>> => {
  const path = join(dataDir, 'signing-keys.json');
  const existing = (await readJson(path, fileSchema)) ?? {};
  const missing = arns.filter((arn) => existing[arn] === undefined);
  if (missing.length === 0) return existing;
  const keys = { ...existing, ...Object.fromEntries(missing.map((arn) => [arn, make()])) };
  await writePrivately(path, keys);
  return keys;
};

/** Operations by name. Each gets the private key, its ARN and the request's body. */
const OPERATIONS: Record<string, (key: string, arn: string, body: unknown) => Record<string, unknown>> = {
  GetPublicKey: (key, arn) => ({
    KeyId: arn,
    KeySpec: 'ECC_NIST_P256',
    KeyUsage: 'SIGN_VERIFY',
    SigningAlgorithms: [ALGORITHM],
    PublicKey: createPublicKey(key).export({ type: 'spki', format: 'der' }).toString('base64'),
  }),
  Sign: (key, arn, body) => {
    const { Message } = signSchema.parse(body);
    const Signature = sign('sha256', Message, key).toString('base64');
    return { KeyId: arn, Signature, SigningAlgorithm: ALGORITHM };
  },
  Verify: (key, arn, body) => {
    const { Message, Signature } = verifySchema.parse(body);
    const isValid = verify('sha256', Message, createPublicKey(key), Signature);
    if (!isValid) throw new InvalidSignature();
    return { KeyId: arn, SignatureValid: true, SigningAlgorithm: ALGORITHM };
  },
};

class InvalidSignature extends Error {}

const TARGET = /^TrentService\.(\w+)$/;

export const createKmsApi = (options: {
  /** PEM of private keys, by ARN. */
  keys: Record<string, string>;
  credentials: AwsCredentials;
}): Hono => {
  const check = createVerifier({ credentials: options.credentials, service: 'kms' });
  const app = new Hono();
  app.post('/', async (c) => {
    const body = new Uint8Array(await c.req.arrayBuffer());
    const refuse = (type: string, message: string): Response =>
      c.json({ __type: type, message }, 400, { 'x-amzn-ErrorType': type });
    const refusal = await check(signedRequest(c.req.raw, body));
    if (refusal !== undefined) return refuse(refusal.code, refusal.message);
    const [, name = ''] = TARGET.exec(c.req.header('x-amz-target') ?? '') ?? [];
    const operation = Object.hasOwn(OPERATIONS, name) ? OPERATIONS[name] : undefined;
    if (operation === undefined) {
      const offered = Object.keys(OPERATIONS).join(', ');
      return refuse('UnknownOperationException', `The embedded cloud offers only ${offered}`);
    }
    try {
      const asked: unknown = JSON.parse(Buffer.from(body).toString());
      const { KeyId } = keySchema.parse(asked);
      const key = options.keys[KeyId];
      if (key === undefined) return refuse('NotFoundException', `Key '${KeyId}' does not exist`);
      return c.json(operation(key, KeyId, asked));
    } catch (error) {
      if (error instanceof InvalidSignature) return refuse('KMSInvalidSignatureException', '');
      const message = error instanceof z.ZodError ? z.prettifyError(error) : 'The body is not JSON';
      return refuse('ValidationException', message);
    }
  });
  return app;
};

/**
 * Secrets Manager over a fixed set of secrets. The functions fetch theirs as when deployed. A value can be
 * replaced, until the cloud ends.
 */
import { Hono } from 'hono';
import * as z from 'zod';
import { type CloudCredentials, consoleSecret, httpToolSecret } from './credentials.ts';
import type { FunctionPlan } from './plan.ts';
import { type AwsCredentials, createVerifier, signedRequest } from './sigv4.ts';

const requestSchema = z.object({ SecretId: z.string(), SecretString: z.string().min(1).optional() });
const TARGET = /^secretsmanager\.(GetSecretValue|PutSecretValue)$/;

/** The secrets that functions get by reference, with their values in this cloud. */
export const secretsOf = (
  functions: readonly FunctionPlan[],
  credentials: CloudCredentials,
): Record<string, string> => {
  const httpTool = httpToolSecret(credentials.secretAccessKey);
  const values = {
    E2B_API_KEY_SECRET_ARN: credentials.e2bApiKey,
    WALKBACK_HTTP_TOOL_SECRET_ARN: httpTool,
    WALKBACK_CONSOLE_SECRET_ARN: consoleSecret(credentials.secretAccessKey),
  };
  const entries = Object.entries(values).flatMap(([variable, value]) =>
    functions.flatMap(({ environment }) => {
      const id = environment[variable];
      return id === undefined ? [] : [[id, value] as const];
    }),
  );
  return Object.fromEntries(entries);
};

export const createSecretsApi = (options: {
  /** By name or ARN, either of which functions may use. */
  secrets: Record<string, string>;
  credentials: AwsCredentials;
}): Hono => {
  const verify = createVerifier({ credentials: options.credentials, service: 'secretsmanager' });
  const secrets = new Map(Object.entries(options.secrets));
  const app = new Hono();
  app.post('/', async (c) => {
    const body = new Uint8Array(await c.req.arrayBuffer());
    const error = (type: string, message: string): Response =>
      c.json({ __type: type, message }, 400, { 'x-amzn-ErrorType': type });
    const refusal = await verify(signedRequest(c.req.raw, body));
    if (refusal !== undefined) return error(refusal.code, refusal.message);
    const [, operation] = TARGET.exec(c.req.header('x-amz-target') ?? '') ?? [];
    if (operation === undefined) {
      const message = 'Only GetSecretValue and PutSecretValue are offered by the embedded cloud';
      return error('UnknownOperationException', message);
    }
    const request = requestSchema.safeParse(JSON.parse(Buffer.from(body).toString()));
    if (!request.success) return error('InvalidParameterException', z.prettifyError(request.error));
    const { SecretId } = request.data;
    const value = secrets.get(SecretId);
    if (value === undefined) {
      return error('ResourceNotFoundException', "Secrets Manager can't find the specified secret.");
    }
    const { SecretString = value } = request.data;
    const about = { ARN: SecretId, Name: SecretId, VersionStages: ['AWSCURRENT'] };
    if (operation === 'GetSecretValue') return c.json({ ...about, SecretString: value });
    secrets.set(SecretId, SecretString);
    return c.json(about);
  });
  return app;
};

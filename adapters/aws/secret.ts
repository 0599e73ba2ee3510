import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { WalkbackError } from '../../core/shared/errors.ts';
import { CLIENT_DEFAULTS } from './client-defaults.ts';
import { calling, isNamed } from './errors.ts';

/** What Secrets Manager says when the secret itself is the problem. */
const NO_VALUE = ['ResourceNotFoundException', 'InvalidRequestException', 'DecryptionFailure'];

/** Names the secret, and says how to store one. */
const unreadable = (secretId: string, error: Error): WalkbackError =>
  new WalkbackError(
    'ConfigurationError',
    error.name === 'ResourceNotFoundException'
      ? `There is no secret ${secretId}. Store one under this name (aws secretsmanager create-secret), or deploy with the name of one that is there: docs/operations.md, Deploy.`
      : `The secret ${secretId} cannot be read (${error.name}: ${error.message}).`,
    { cause: error },
  );

/** Reads a secret that is one plain text; its value appears in no error. */
export const readSecret = async (
  secretId: string,
  client: SecretsManagerClient = new SecretsManagerClient(CLIENT_DEFAULTS),
): Promise<string> => {
  const command = new GetSecretValueCommand({ SecretId: secretId });
  const { SecretString } = await calling(`Secrets Manager, asked for the secret ${secretId},`, async () => {
    try {
      return await client.send(command);
    } catch (error) {
      throw error instanceof Error && isNamed(error, ...NO_VALUE) ? unreadable(secretId, error) : error;
    }
  });
  const value = SecretString?.trim() ?? '';
  if (value !== '') return value;
  throw new WalkbackError(
    'ConfigurationError',
    `The secret ${secretId} is empty. Store the value as plain text.`,
  );
};

/** A rotated secret is in use everywhere this long after it was stored. */
export const SECRET_LIFE_MS = 5 * 60_000;
/** Pause before the next try after a failed read. */
const RETRY_MS = 30_000;

/**
 * A secret that may be rotated: read when it is first needed, and again once it is old. If the new read
 * fails, the known value is used, so an outage of Secrets Manager stops no running work.
 */
export const createSecret = (
  secretId: string,
  { client, now = Date.now }: { client?: SecretsManagerClient; now?: () => number } = {},
): (() => Promise<string>) => {
  let known: { value: string; untilMs: number } | undefined;
  return async () => {
    if (known !== undefined && now() < known.untilMs) return known.value;
    try {
      known = { value: await readSecret(secretId, client), untilMs: now() + SECRET_LIFE_MS };
    } catch (error) {
      if (known === undefined) throw error;
      known = { ...known, untilMs: now() + RETRY_MS };
    }
    return known.value;
  };
};

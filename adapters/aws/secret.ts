import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { WalkbackError } from '../../core/shared/errors.ts';
import { CLIENT_DEFAULTS } from './client-defaults.ts';
import { calling } from './errors.ts';

/** Reads a secret that is one plain text; its value appears in no error. */
export const readSecret = async (
  secretId: string,
  client: SecretsManagerClient = new SecretsManagerClient(CLIENT_DEFAULTS),
): Promise<string> => {
  const command = new GetSecretValueCommand({ SecretId: secretId });
  const { SecretString } = await calling('Secrets Manager', () => client.send(command));
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

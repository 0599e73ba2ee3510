import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { WalkbackError } from '../../core/errors.ts';
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

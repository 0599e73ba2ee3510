/** The key that `walkback up` signs calls to a URL with: for trying a tool on this machine. Deployed, an operator derives it. */
import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { endpointKey } from 'walkback/kit';

export const localKey = async (url: string, environment = process.env): Promise<string> => {
  const secretId = environment['WALKBACK_HTTP_TOOL_SECRET_ARN'];
  if (secretId === undefined) throw new Error('export what `walkback up` printed, then call this again');
  const command = new GetSecretValueCommand({ SecretId: secretId });
  const { SecretString: secret } = await new SecretsManagerClient().send(command);
  if (secret === undefined) throw new Error(`the secret ${secretId} is empty`);
  return endpointKey(secret.trim(), url);
};

/** Users of the account with one managed policy of the stack each, so that their calls show what it allows. */
import { LambdaClient } from '@aws-sdk/client-lambda';
import { ACCOUNT, type Emulator, REGION } from './emulator.ts';

/** A call of IAM as the account's root, whose signature the emulator does not check. */
const iam = async ({ url }: Emulator, parameters: Record<string, string>): Promise<string> => {
  const scope = `${ACCOUNT}/20260101/${REGION}/iam/aws4_request`;
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      authorization: `AWS4-HMAC-SHA256 Credential=${scope}, SignedHeaders=host, Signature=unused`,
      'content-type': 'application/x-www-form-urlencoded',
    },
    body: new URLSearchParams({ ...parameters, Version: '2010-05-08' }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${parameters['Action'] ?? ''}: ${text}`);
  return text;
};

const between = (text: string, name: string): string => {
  const found = new RegExp(`<${name}>([^<]+)</${name}>`).exec(text)?.[1];
  if (found === undefined) throw new Error(`IAM answered no ${name}`);
  return found;
};

/** Calls functions as a user who has this policy and no other. */
export const userWith = async (
  emulator: Emulator,
  name: string,
  policyArn: string,
): Promise<LambdaClient> => {
  await iam(emulator, { Action: 'CreateUser', UserName: name });
  await iam(emulator, { Action: 'AttachUserPolicy', UserName: name, PolicyArn: policyArn });
  const key = await iam(emulator, { Action: 'CreateAccessKey', UserName: name });
  const credentials = {
    accessKeyId: between(key, 'AccessKeyId'),
    secretAccessKey: between(key, 'SecretAccessKey'),
  };
  return new LambdaClient({ endpoint: emulator.url, region: REGION, credentials });
};

/** As the account's root, for what administrators do. */
export const rootClient = ({ url }: Emulator): LambdaClient =>
  new LambdaClient({
    endpoint: url,
    region: REGION,
    credentials: { accessKeyId: ACCOUNT, secretAccessKey: 'unused' },
  });

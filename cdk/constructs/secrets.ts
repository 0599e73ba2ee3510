/** Lets functions read secrets. */
import { Aws } from 'aws-cdk-lib';
import type { ISecret } from 'aws-cdk-lib/aws-secretsmanager';
import type { WalkbackFunction } from './walkback-function.ts';

/** Lets a function read one secret, and tells it which one. */
export const bindSecret = (fn: WalkbackFunction, variable: string, secret: ISecret): void => {
  const { secretArn, secretFullArn, encryptionKey } = secret;
  fn.fn.addEnvironment(variable, secretArn);
  // Without its full ARN, a secret is known only by name, to which Secrets Manager adds six characters.
  fn.allow(['secretsmanager:GetSecretValue'], [secretFullArn ?? `${secretArn}-??????`]);
  if (encryptionKey === undefined) return;
  fn.allow(['kms:Decrypt'], [encryptionKey.keyArn], {
    StringEquals: { 'kms:ViaService': `secretsmanager.${Aws.REGION}.amazonaws.com` },
  });
};

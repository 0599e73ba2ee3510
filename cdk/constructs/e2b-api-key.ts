import type { NodejsFunction } from 'aws-cdk-lib/aws-lambda-nodejs';
import { type ISecret, Secret } from 'aws-cdk-lib/aws-secretsmanager';
import { Construct } from 'constructs';

/** The E2B API key, by reference: the secret is made by the operator and its value never enters a template. */
export class E2bApiKey extends Construct {
  readonly secret: ISecret;

  constructor(scope: Construct, id: string, props: { secretName: string }) {
    super(scope, id);
    this.secret = Secret.fromSecretNameV2(this, 'Secret', props.secretName);
  }

  bindRead(fn: NodejsFunction): void {
    fn.addEnvironment('E2B_API_KEY_SECRET_ARN', this.secret.secretArn);
    this.secret.grantRead(fn);
  }
}

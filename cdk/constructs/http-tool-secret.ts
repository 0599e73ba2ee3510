import type { NodejsFunction } from 'aws-cdk-lib/aws-lambda-nodejs';
import { type ISecret, Secret } from 'aws-cdk-lib/aws-secretsmanager';
import { Construct } from 'constructs';

/** What calls of HTTP tools are signed with, by reference: the secret is made by the operator. */
export class HttpToolSecret extends Construct {
  readonly secret: ISecret;

  constructor(scope: Construct, id: string, props: { secretName: string }) {
    super(scope, id);
    this.secret = Secret.fromSecretNameV2(this, 'Secret', props.secretName);
  }

  bindRead(fn: NodejsFunction): void {
    fn.addEnvironment('WALKBACK_HTTP_TOOL_SECRET_ARN', this.secret.secretArn);
    this.secret.grantRead(fn);
  }
}

import { App, Duration, Stack } from 'aws-cdk-lib';
import { Vpc } from 'aws-cdk-lib/aws-ec2';
import { ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Key } from 'aws-cdk-lib/aws-kms';
import { Runtime, Tracing } from 'aws-cdk-lib/aws-lambda';
import { NodejsFunction } from 'aws-cdk-lib/aws-lambda-nodejs';
import { Secret } from 'aws-cdk-lib/aws-secretsmanager';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { Walkback } from '../../cdk/walkback.ts';

const app = new App();
const stack = new Stack(app, 'Agents');
const encryptionKey = new Key(stack, 'Key', { enableKeyRotation: true });

const pager = new Topic(stack, 'Pager', { masterKey: encryptionKey, enforceSSL: true });
// With a policy of its own, as enforceSSL makes one, a topic lets no alarm in that the policy does not name.
pager.grantPublish(new ServicePrincipal('cloudwatch.amazonaws.com'));

const walkback = new Walkback(stack, 'Walkback', {
  e2bApiKeySecret: Secret.fromSecretNameV2(stack, 'E2bApiKey', 'walkback/e2b-api-key'),
  httpToolSecret: Secret.fromSecretNameV2(stack, 'HttpToolKey', 'walkback/http-tool'),
  encryptionKey, // made in this app; an imported one needs the policy below
  vpc: new Vpc(stack, 'Vpc', { maxAzs: 2 }), // needs NAT: the sandboxes are at E2B
  alarmTopic: pager,
  reservedConcurrency: { 'advance-saga': 50 },
});

const refund = new NodejsFunction(stack, 'Refund', {
  functionName: 'shop-refund', // what the manifests of its tools name
  entry: 'examples/refund/function.ts',
  runtime: Runtime.NODEJS_24_X,
  timeout: Duration.seconds(32), // shorter than its tools' 30 s and 5 s more: see Timeouts
  tracing: Tracing.ACTIVE,
});
walkback.addTool(refund); // the machine may call it, and it gets the tombstones a tool needs

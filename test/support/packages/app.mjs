// An app of a platform team, in an empty directory beside the packages.
import { Walkback } from '@walkback/cdk';
import { App, Stack } from 'aws-cdk-lib';
import { Secret } from 'aws-cdk-lib/aws-secretsmanager';

const app = new App({ outdir: process.argv[2] });
const stack = new Stack(app, 'Agents');
const secret = (name) => Secret.fromSecretNameV2(stack, name, name);
const walkback = new Walkback(stack, 'Walkback', {
  e2bApiKeySecret: secret('E2b'),
  httpToolSecret: secret('HttpTool'),
  // With them come the API and the console.
  identity: { issuer: 'https://id.example', audience: 'walkback' },
  runbookUrl: 'https://example.com/runbook',
});
const { template } = app.synth().getStackByName('Agents');
const functions = Object.values(template.Resources).filter(({ Type }) => Type === 'AWS::Lambda::Function');
if (walkback.node.scope !== stack) throw new Error('the construct is elsewhere');
process.stdout.write(`${functions.length}\n`);

import { Duration, RemovalPolicy, Stack } from 'aws-cdk-lib';
import { Annotations, Match } from 'aws-cdk-lib/assertions';
import { Vpc } from 'aws-cdk-lib/aws-ec2';
import { Key } from 'aws-cdk-lib/aws-kms';
import { RetentionDays } from 'aws-cdk-lib/aws-logs';
import { CfnBucket } from 'aws-cdk-lib/aws-s3';
import { Secret } from 'aws-cdk-lib/aws-secretsmanager';
import { afterAll, expect, test } from 'vitest';
import { readSettings } from '../../cdk/settings.ts';
import type { WalkbackProps } from '../../cdk/walkback.ts';
import manifest from '../../cdk.json' with { type: 'json' };
import { longTest } from '../support/sampled-test.ts';
import { WHOLE } from '../support/sampling.ts';
import { createApp, discardSynthesised, synthesise, VALIDATED } from '../support/synthesise.ts';
import { asArray, entriesOf, statementsOf } from '../support/template.ts';

/** `npm run test:long` has no setup file that does it. */
afterAll(discardSynthesised);

const findings = (stack: Stack): string[] => {
  const annotations = Annotations.fromStack(stack);
  const pattern = Match.stringLikeRegexp('AwsSolutions-.*');
  return [...annotations.findError('*', pattern), ...annotations.findWarning('*', pattern)].map(
    ({ id, entry }) => `${id} ${JSON.stringify(entry.data).slice(0, 80)}`,
  );
};

const warnings = (stack: Stack): string[] =>
  Annotations.fromStack(stack)
    .findWarning('/Walkback/Walkback', Match.anyValue())
    .map(({ entry }) => JSON.stringify(entry.data));

const everything = (stack: Stack): WalkbackProps => ({
  namePrefix: 'second',
  e2bApiKeySecret: Secret.fromSecretNameV2(stack, 'E2b', 'e2b'),
  httpToolSecret: Secret.fromSecretNameV2(stack, 'Http', 'http'),
  encryptionKey: new Key(stack, 'Key', { enableKeyRotation: true }),
  vpc: new Vpc(stack, 'Vpc'),
  reservedConcurrency: { 'advance-saga': 20 },
  logRetention: RetentionDays.ONE_YEAR,
  supersededObjectRetention: Duration.days(7),
  removalPolicy: RemovalPolicy.DESTROY,
  tracing: false,
  toolFunctions: ['payments-refund'],
  runbookUrl: 'https://wiki.example.com/walkback',
  consoleUrl: 'https://walkback.example.com',
  identity: { issuer: 'https://login.example.com', audience: 'walkback' },
});

test('every finding of AwsSolutions is fixed or justified, as it is deployed and with everything an embedder may choose', () => {
  // With the feature flags it is deployed with; everything an embedder may choose is without any. `cdk synth` validates this one.
  const { stack } = synthesise(readSettings, manifest.context, { findings: true });
  expect(findings(stack)).toEqual([]);
  // Without a place for runbooks an alarm names a file of this repository; without one to sign in anybody may claim to be anybody.
  expect(warnings(stack).toSorted()).toEqual([
    expect.stringContaining('Set runbookUrl to where your operators'),
    expect.stringContaining('Set identity (oidcIssuer, oidcAudience)'),
  ]);
});

/** Whether CloudFormation would take that template, and its findings, take longer than all the rest: `npm run test:long`. */
test('the construct takes a key, a VPC, concurrency, retention, tools and a prefix, and gives each to what it concerns', () => {
  const { stack, template } = synthesise(everything, {}, { validate: WHOLE, findings: WHOLE });
  const ours = findings(stack).filter((finding) => finding.includes('/Walkback/Walkback/'));
  expect(ours).toEqual([]);
  expect(warnings(stack)).toEqual([]);
  const functions = entriesOf(template, 'AWS::Lambda::Function')
    .map(([, { Properties }]) => Properties)
    .filter(({ FunctionName }) => String(FunctionName).startsWith('second-'));
  expect(functions.length).toBeGreaterThan(20);
  for (const properties of functions) {
    expect(properties).toMatchObject({ VpcConfig: {}, KmsKeyArn: {} });
    expect(properties['TracingConfig']).toBeUndefined();
  }
  const groups = functions.map(({ VpcConfig }) =>
    JSON.stringify((VpcConfig as Record<string, unknown>)['SecurityGroupIds']),
  );
  expect(new Set(groups).size).toBe(1);
  expect(functions.find(({ FunctionName }) => FunctionName === 'second-advance-saga')).toMatchObject({
    ReservedConcurrentExecutions: 20,
  });
  // Manifests name the built-in function for HTTP tools as in every deployment; here it is called this.
  expect(functions.map(({ FunctionName }) => FunctionName)).toContain('second-http-tool');
  expect(functions.find(({ FunctionName }) => FunctionName === 'second-advance-saga')).toMatchObject({
    Environment: { Variables: { WALKBACK_HTTP_TOOL_FUNCTION: 'second-http-tool' } },
  });
  const toldOfConsole = functions.filter(({ Environment }) =>
    JSON.stringify(Environment).includes('"WALKBACK_CONSOLE_URL":"https://walkback.example.com"'),
  );
  expect(new Set(toldOfConsole.map(({ FunctionName }) => FunctionName))).toEqual(
    new Set(['second-advance-saga', 'second-publish-saga-events']),
  );
  for (const [, { Properties, ...table }] of entriesOf(template, 'AWS::DynamoDB::Table')) {
    expect(table).toMatchObject({ DeletionPolicy: 'Delete' });
    expect(Properties).toMatchObject({
      DeletionProtectionEnabled: false,
      SSESpecification: { SSEEnabled: true, SSEType: 'KMS' },
    });
  }
  const statements = statementsOf(template, 'second-checkpoint');
  const actions = statements.flatMap(({ Action }) => asArray(Action));
  expect(actions).toEqual(expect.arrayContaining(['kms:Decrypt', 'ec2:CreateNetworkInterface']));
  for (const [, { Properties }] of entriesOf(template, 'AWS::CloudWatch::Alarm')) {
    expect(Properties['AlarmDescription']).toContain('https://wiki.example.com/walkback#');
  }
  const machine = JSON.stringify(entriesOf(template, 'AWS::IAM::Policy'));
  expect(machine).toContain(':function:payments-refund');
});

test('reserved concurrency for a function that is not there is refused', () => {
  expect(() =>
    synthesise((stack) => ({ ...readSettings(stack), reservedConcurrency: { checkpont: 1 } })),
  ).toThrow(/checkpont/);
});

/** `npm run synth` validates what is deployed; that the validator refuses is asked in `npm run test:long`. */
longTest('what CloudFormation would refuse is refused by synthesis', () => {
  const app = createApp(VALIDATED);
  new CfnBucket(new Stack(app, 'Wrong'), 'Wrong').addPropertyOverride('Nonsense', 1);
  expect(() => app.synth()).toThrow(/ERROR Nonsense: /);
});

/** What is deployed and what the embedded cloud runs are one template, and nothing in it is silently left out locally. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { planCloud } from '../../local/plan.ts';
import { loadTemplate, PROJECT } from '../../local/template.ts';
import { entriesOf, logicalIdOf } from '../support/template.ts';

const template = await loadTemplate();

/** Properties by type: played locally, or deployed only because a laptop has no such thing. A new one must be put here,
 * and so be thought about. */
const KNOWN: Record<string, { local: string[]; deployed: string[] }> = {
  'AWS::DynamoDB::Table': {
    local: [
      'KeySchema',
      'AttributeDefinitions',
      'GlobalSecondaryIndexes',
      'TimeToLiveSpecification',
      'StreamSpecification',
      'BillingMode',
    ],
    deployed: [
      'DeletionProtectionEnabled',
      'PointInTimeRecoverySpecification',
      'ResourcePolicy',
      'SSESpecification',
      'Tags',
    ],
  },
  'AWS::Lambda::Function': {
    local: ['FunctionName', 'Environment', 'Timeout', 'MemorySize'],
    deployed: [
      'Architectures',
      'Code',
      'Description',
      'Handler',
      'LoggingConfig',
      'Role',
      'Runtime',
      'Tags',
      'TracingConfig',
    ],
  },
  'AWS::Lambda::EventSourceMapping': {
    local: [
      'BatchSize',
      'BisectBatchOnFunctionError',
      'EventSourceArn',
      'FunctionName',
      'FunctionResponseTypes',
      'MaximumBatchingWindowInSeconds',
      'MaximumRetryAttempts',
      'StartingPosition',
    ],
    // A filter spares calls; the function looks at what it is given all the same.
    deployed: ['DestinationConfig', 'FilterCriteria', 'Tags'],
  },
  'AWS::StepFunctions::StateMachine': {
    local: ['DefinitionString', 'DefinitionSubstitutions', 'StateMachineName'],
    deployed: ['LoggingConfiguration', 'RoleArn', 'Tags', 'TracingConfiguration'],
  },
  'AWS::Events::Rule': {
    local: ['EventPattern', 'ScheduleExpression', 'State', 'Targets'],
    deployed: ['Tags'],
  },
  'AWS::KMS::Key': { local: ['KeySpec', 'KeyUsage'], deployed: ['Description', 'KeyPolicy', 'Tags'] },
  'AWS::S3::Bucket': {
    local: ['ObjectLockConfiguration', 'ObjectLockEnabled'],
    deployed: [
      'BucketEncryption',
      'LifecycleConfiguration',
      'OwnershipControls',
      'PublicAccessBlockConfiguration',
      'Tags',
      'VersioningConfiguration',
    ],
  },
  'AWS::Events::EventBus': { local: ['Name'], deployed: ['Description', 'Tags'] },
  'AWS::ApiGatewayV2::Route': {
    local: ['ApiId', 'AuthorizationScopes', 'AuthorizationType', 'AuthorizerId', 'RouteKey', 'Target'],
    deployed: [],
  },
  'AWS::ApiGatewayV2::Integration': {
    local: ['ApiId', 'IntegrationType', 'IntegrationUri', 'PayloadFormatVersion', 'TimeoutInMillis'],
    deployed: [],
  },
  'AWS::ApiGatewayV2::Authorizer': {
    local: ['ApiId', 'AuthorizerType', 'IdentitySource', 'JwtConfiguration', 'Name'],
    deployed: [],
  },
  'AWS::ApiGatewayV2::Api': {
    local: ['ProtocolType'],
    deployed: ['Description', 'DisableExecuteApiEndpoint', 'Name', 'Tags'],
  },
  // Requests are not throttled here, and who asked is logged nowhere.
  'AWS::ApiGatewayV2::Stage': {
    local: ['ApiId', 'StageName'],
    deployed: ['AccessLogSettings', 'AutoDeploy', 'DefaultRouteSettings', 'Tags'],
  },
  'AWS::SecretsManager::Secret': { local: ['GenerateSecretString'], deployed: ['Description', 'Tags'] },
  'AWS::SNS::Topic': { local: [], deployed: ['DisplayName', 'Tags'] },
};

/** Who may do what, what is kept of logs, who is told: a laptop has one user, who sees everything. */
const DEPLOYED_ONLY = [
  // The export is written here too; queries of it are Athena's.
  'AWS::Athena::NamedQuery',
  'AWS::Athena::WorkGroup',
  'AWS::Glue::Database',
  'AWS::Glue::Table',
  'AWS::CloudWatch::Alarm',
  'AWS::CloudWatch::Dashboard',
  'AWS::EventSchemas::Registry',
  'AWS::EventSchemas::Schema',
  'AWS::Events::Archive',
  'AWS::IAM::ManagedPolicy',
  'AWS::IAM::Policy',
  'AWS::IAM::Role',
  'AWS::Lambda::EventInvokeConfig',
  'AWS::Lambda::Permission',
  'AWS::Logs::LogGroup',
  'AWS::S3::BucketPolicy',
  'AWS::SNS::TopicPolicy',
  'AWS::SQS::Queue',
  'AWS::SQS::QueuePolicy',
];

test('every kind of resource is played locally, or known to be deployed only', () => {
  const types = new Set(Object.values(template.Resources).map(({ Type }) => Type));
  expect([...types].sort()).toEqual([...Object.keys(KNOWN), ...DEPLOYED_ONLY].sort());
});

test('every property of what is played locally is played, or known to be deployed only', () => {
  for (const [type, { local, deployed }] of Object.entries(KNOWN)) {
    for (const [id, { Properties }] of entriesOf(template, type)) {
      const unknown = Object.keys(Properties).filter((name) => ![...local, ...deployed].includes(name));
      expect(unknown, id).toEqual([]);
    }
  }
});

test('the machine, the functions, the tables and the rules of the plan are the template’s', async () => {
  const plan = planCloud(template);
  const asl = await readFile(join(PROJECT, 'statemachines/saga.asl.json'), 'utf8');
  expect(plan.stateMachines.map(({ definition }) => definition)).toEqual([asl]);
  expect(plan.functions).toHaveLength(entriesOf(template, 'AWS::Lambda::Function').length);
  expect(plan.tables).toHaveLength(entriesOf(template, 'AWS::DynamoDB::Table').length);
  expect(plan.rules).toHaveLength(entriesOf(template, 'AWS::Events::Rule').length);
  expect(plan.routes).toHaveLength(entriesOf(template, 'AWS::ApiGatewayV2::Route').length);
  expect(plan.streams).toHaveLength(entriesOf(template, 'AWS::Lambda::EventSourceMapping').length);
  // The same targets as deployed: the sweeper twice, the others once.
  expect(plan.rules.flatMap(({ functionNames }) => functionNames).sort()).toEqual([
    'walkback-anchor-ledger',
    'walkback-measure-sagas',
    'walkback-sweep',
    'walkback-sweep',
  ]);
});

test('every placeholder of the ASL has its value, every value its placeholder, and each is what it says', () => {
  const [[, machine] = []] = entriesOf(template, 'AWS::StepFunctions::StateMachine');
  const { DefinitionString, DefinitionSubstitutions } = machine?.Properties ?? {};
  const placeholders = new Set(
    [...String(DefinitionString).matchAll(/\$\{(\w+)\}/g)].map(([, name = '']) => name),
  );
  const values = DefinitionSubstitutions as Record<string, unknown>;
  expect([...placeholders].sort()).toEqual(Object.keys(values).sort());
  const arnOf = (name: string) => ({ 'Fn::GetAtt': [logicalIdOf(template, name), 'Arn'] });
  expect(values).toMatchObject({
    AdvanceSagaFunction: arnOf('walkback-advance-saga'),
    AnnounceAwaitFunction: arnOf('walkback-announce-await'),
    AlertTopic: { Ref: expect.stringContaining('Alerts') },
    Partition: { Ref: 'AWS::Partition' },
  });
});

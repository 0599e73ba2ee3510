import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { FUNCTIONS } from '../../cdk/functions.ts';
import { isForPeople } from '../../contract/people.ts';
import { planCloud } from '../../local/plan.ts';
import { loadTemplate, PROJECT, type Resource } from '../../local/template.ts';
import {
  allStatements,
  asArray,
  entriesOf,
  logicalIdOf,
  machineStatements,
  managedPolicy,
  type Statement,
  statementsOf,
} from '../support/template.ts';

const template = await loadTemplate();

const tableId = (part: string): string => {
  const found = entriesOf(template, 'AWS::DynamoDB::Table').find(([id]) => id.includes(part));
  if (found === undefined) throw new Error(`no table ${part}`);
  return found[0];
};
const bucketOf = (part: string): Resource => {
  const found = entriesOf(template, 'AWS::S3::Bucket').find(([id]) => id.includes(part));
  if (found === undefined) throw new Error(`no bucket ${part}`);
  return found[1];
};
const actionsOf = (name: string): string[] =>
  statementsOf(template, `walkback-${name}`).flatMap(({ Action }) => asArray(Action));

describe('the tables', () => {
  test('have the keys, indexes and expiry that the design names', () => {
    const shapes = planCloud(template).tables.map((table) => [
      table.KeySchema.map(({ AttributeName }) => AttributeName).join('/'),
      table.TimeToLiveSpecification?.AttributeName,
      ...table.GlobalSecondaryIndexes.map(
        ({ IndexName, KeySchema }) =>
          `${IndexName} ${KeySchema.map(({ AttributeName }) => AttributeName).join('/')}`,
      ),
    ]);
    expect(shapes).toEqual([
      [
        'pk/sk',
        'expiresAt',
        'gsi_checkpoint checkpointId',
        'gsi_message messageId/sk',
        'gsi_session createdAt/requestHash',
        'gsi_words wordsPart/updatedAt',
      ],
      ['pk/sk', 'expiresAt', 'gsi_status status/statusSince'],
      // Entries are never removed, by time either.
      ['pk/sk', undefined, 'gsi_external_ref external_ref/at', 'gsi_day day/at'],
    ]);
  });

  test('are recoverable, protected and outlive the stack', () => {
    for (const [, table] of entriesOf(template, 'AWS::DynamoDB::Table')) {
      expect(table.Properties).toMatchObject({
        PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
        DeletionProtectionEnabled: true,
        BillingMode: 'PAY_PER_REQUEST',
      });
      expect(table).toMatchObject({ DeletionPolicy: 'Retain', UpdateReplacePolicy: 'Retain' });
    }
  });

  test('feed their streams to the publishers, with retries, bisection and a dead letter queue', () => {
    const mappings = entriesOf(template, 'AWS::Lambda::EventSourceMapping').map(([, one]) => one.Properties);
    for (const mapping of mappings) {
      expect(mapping).toMatchObject({
        BisectBatchOnFunctionError: true,
        MaximumRetryAttempts: 10,
        FunctionResponseTypes: ['ReportBatchItemFailures'],
        StartingPosition: 'TRIM_HORIZON',
        DestinationConfig: { OnFailure: {} },
      });
    }
    expect(mappings.map(({ FunctionName }) => FunctionName)).toEqual(
      [
        'walkback-publish-session-events',
        'walkback-keep-words',
        'walkback-export-ledger',
        'walkback-publish-saga-events',
      ].map((name) => ({
        Ref: logicalIdOf(template, name),
      })),
    );
    expect(actionsOf('publish-session-events')).toContain('sqs:SendMessage');
  });
});

test('outlives the stack, except for what a first deployment that fails has just made', () => {
  const kept = Object.values(template.Resources).filter(
    ({ UpdateReplacePolicy }) => UpdateReplacePolicy === 'Retain',
  );
  const kindsWith = (policy: string): string[] => [
    ...new Set(kept.filter(({ DeletionPolicy }) => DeletionPolicy === policy).map(({ Type }) => Type)),
  ];
  expect(kindsWith('RetainExceptOnCreate').sort()).toEqual([
    'AWS::KMS::Key',
    'AWS::Logs::LogGroup',
    'AWS::S3::Bucket',
    'AWS::SecretsManager::Secret',
  ]);
  // Protected, so that CloudFormation could not delete them.
  expect(kindsWith('Retain')).toEqual(['AWS::DynamoDB::Table']);
});

describe('the ledger', () => {
  test('is changed by nobody: no policy allows it, and the table itself denies it to everybody', () => {
    const ledger = tableId('Ledger');
    const allowed = allStatements(template)
      .filter(({ Resource }) => JSON.stringify(Resource).includes(`"${ledger}"`))
      .flatMap(({ Action }) => asArray(Action));
    const reads = ['GetItem', 'BatchGetItem', 'Query', 'Scan', 'DescribeTable', 'PutItem'];
    expect(new Set(allowed)).toEqual(new Set(reads.map((action) => `dynamodb:${action}`)));

    const { ResourcePolicy } = template.Resources[ledger]?.Properties ?? {};
    // Without exception: to any condition there is somebody who does not meet it.
    expect(JSON.stringify(ResourcePolicy).match(/"Condition"/g)).toHaveLength(1);
    expect(ResourcePolicy).toMatchObject({
      PolicyDocument: {
        Statement: [
          {
            Effect: 'Deny',
            Principal: { AWS: '*' },
            Action: expect.arrayContaining([
              'dynamodb:UpdateItem',
              'dynamodb:DeleteItem',
              'dynamodb:BatchWriteItem',
              'dynamodb:PartiQLUpdate',
              'dynamodb:PartiQLDelete',
            ]),
          },
          {
            Effect: 'Deny',
            Principal: { AWS: '*' },
            Action: 'dynamodb:PutItem',
            Condition: { ArnNotEquals: { 'aws:PrincipalArn': expect.any(Array) } },
          },
        ],
      },
    });
  });

  test('is appended to by exactly the functions that move sagas', () => {
    const { ResourcePolicy } = template.Resources[tableId('Ledger')]?.Properties ?? {};
    const text = JSON.stringify(ResourcePolicy);
    const writers = FUNCTIONS.filter(({ grants }) => grants.ledger?.includes('PutItem')).map(
      ({ name }) => name,
    );
    expect(writers).toEqual([
      'start-saga',
      'submit-step',
      'call-tool',
      'park-saga',
      'close-saga',
      'answer',
      'operate-saga',
      'rewind',
      'advance-saga',
      'sweep',
    ]);
    for (const { name } of FUNCTIONS) {
      const role = template.Resources[logicalIdOf(template, `walkback-${name}`)]?.Properties['Role'];
      const [roleId] = (role as { 'Fn::GetAtt': string[] })['Fn::GetAtt'];
      expect(text.includes(`"${roleId}"`), name).toBe(writers.includes(name));
    }
  });

  test('is read by finance, with its indexes and its export, and finance reads nothing else', () => {
    const [statement, invoking, ...more] = managedPolicy(template, 'AccessFinance');
    // test/infra/ledger-export.test.ts looks at what is on which of them.
    const services = more.flatMap(({ Action }) => asArray(Action)).map((action) => action.split(':')[0]);
    expect(new Set(services)).toEqual(new Set(['athena', 'glue', 's3']));
    const [exported = ''] =
      entriesOf(template, 'AWS::S3::Bucket').find(([id]) => id.includes('LedgerExport')) ?? [];
    for (const { Resource } of more.filter(({ Action }) => asArray(Action)[0]?.startsWith('s3:'))) {
      for (const one of asArray(Resource)) expect(JSON.stringify(one)).toContain(`"${exported}"`);
    }
    expect(asArray(invoking?.Resource)).toEqual([
      { 'Fn::GetAtt': [logicalIdOf(template, 'walkback-query-ledger'), 'Arn'] },
    ]);
    expect(asArray(statement?.Action).join()).not.toMatch(/Put|Update|Delete|Write/);
    const resources = asArray(statement?.Resource).map((one) => JSON.stringify(one));
    expect(resources).toHaveLength(3);
    for (const resource of resources) expect(resource).toContain(tableId('Ledger'));
    expect(resources.join()).toContain('/index/gsi_external_ref');
    expect(resources.join()).toContain('/index/gsi_day');
  });
});

describe('the bucket', () => {
  test('is private, encrypted, versioned and cleans up after itself', () => {
    const bucket = bucketOf('Bundles');
    expect(bucket).toMatchObject({ DeletionPolicy: 'RetainExceptOnCreate' });
    expect(bucket.Properties).toMatchObject({
      PublicAccessBlockConfiguration: {
        BlockPublicAcls: true,
        BlockPublicPolicy: true,
        IgnorePublicAcls: true,
        RestrictPublicBuckets: true,
      },
      VersioningConfiguration: { Status: 'Enabled' },
      LifecycleConfiguration: {
        Rules: [
          {
            Status: 'Enabled',
            NoncurrentVersionExpiration: { NoncurrentDays: 30 },
            AbortIncompleteMultipartUpload: { DaysAfterInitiation: 1 },
          },
        ],
      },
    });
    expect(JSON.stringify(bucket.Properties['BucketEncryption'])).toContain('AES256');
  });

  test('refuses anything without TLS, as do topic and queues', () => {
    for (const type of ['AWS::S3::BucketPolicy', 'AWS::SNS::TopicPolicy', 'AWS::SQS::QueuePolicy']) {
      for (const [, { Properties }] of entriesOf(template, type)) {
        expect(Properties['PolicyDocument'], type).toMatchObject({
          Statement: expect.arrayContaining([
            expect.objectContaining({
              Effect: 'Deny',
              Condition: { Bool: { 'aws:SecureTransport': 'false' } },
            }),
          ]),
        });
      }
    }
  });
});

describe('the anchors of the ledger', () => {
  const policyOf = (part: string) =>
    entriesOf(template, 'AWS::S3::BucketPolicy')
      .filter(([id]) => id.includes(part))
      .flatMap(
        ([, { Properties }]) => (Properties['PolicyDocument'] as { Statement: Statement[] }).Statement,
      );
  const signing = () => entriesOf(template, 'AWS::KMS::Key').map(([, key]) => key);

  test('are locked for 400 days by the bucket itself, in governance mode', () => {
    expect(bucketOf('Anchors')).toMatchObject({
      DeletionPolicy: 'RetainExceptOnCreate',
      Properties: {
        ObjectLockEnabled: true,
        ObjectLockConfiguration: { Rule: { DefaultRetention: { Mode: 'GOVERNANCE', Days: 400 } } },
        VersioningConfiguration: { Status: 'Enabled' },
        PublicAccessBlockConfiguration: { BlockPublicPolicy: true, RestrictPublicBuckets: true },
      },
    });
  });

  test('are deleted and written over by nobody, also not by who may bypass the lock', () => {
    const denied = policyOf('Anchors').filter(({ Effect }) => Effect === 'Deny');
    expect(denied).toEqual(
      expect.arrayContaining([
        expect.objectContaining({
          Principal: { AWS: '*' },
          Action: [
            's3:BypassGovernanceRetention',
            's3:DeleteObject',
            's3:DeleteObjectVersion',
            's3:PutObjectRetention',
          ],
        }),
        expect.objectContaining({
          Principal: { AWS: '*' },
          Action: 's3:PutObject',
          Condition: { Null: { 's3:if-none-match': 'true' } },
        }),
      ]),
    );
  });

  test('are signed by one function alone, which writes no table', () => {
    const [key, ...more] = signing();
    expect(more).toEqual([]);
    expect(key?.Properties).toMatchObject({ KeySpec: 'ECC_NIST_P256', KeyUsage: 'SIGN_VERIFY' });
    const signers = FUNCTIONS.filter(({ name }) => actionsOf(name).includes('kms:Sign'));
    expect(signers.map(({ name }) => name)).toEqual(['anchor-ledger']);
    expect(actionsOf('anchor-ledger').filter((action) => action.startsWith('dynamodb:'))).toEqual([
      'dynamodb:Query',
    ]);
    const role = template.Resources[logicalIdOf(template, 'walkback-anchor-ledger')]?.Properties['Role'];
    expect(key?.Properties['KeyPolicy']).toMatchObject({
      Statement: expect.arrayContaining([
        expect.objectContaining({
          Effect: 'Deny',
          Principal: { AWS: '*' },
          Action: 'kms:Sign',
          Condition: { ArnNotEquals: { 'aws:PrincipalArn': role } },
        }),
      ]),
    });
  });

  test('are written by that function alone: what writes tables reaches neither bucket nor key', () => {
    const id = entriesOf(template, 'AWS::S3::Bucket').find(([one]) => one.includes('Anchors'))?.[0] ?? '';
    const touching = FUNCTIONS.filter(({ name }) =>
      statementsOf(template, `walkback-${name}`).some(({ Resource }) =>
        JSON.stringify(Resource).includes(`"${id}"`),
      ),
    );
    expect(touching.map(({ name }) => name)).toEqual(['query-ledger', 'anchor-ledger']);
    expect(actionsOf('query-ledger')).not.toContain('s3:PutObject');
    for (const { name } of touching) expect(actionsOf(name)).not.toContain('dynamodb:PutItem');
  });
});

describe('the functions', () => {
  test('each has an entry on disk, and each entry on disk is deployed', async () => {
    const { functions } = planCloud(template);
    for (const fn of functions) expect(existsSync(join(PROJECT, fn.entry)), fn.entry).toBe(true);
    const files = await readdir(join(PROJECT, 'functions'));
    const sources = await Promise.all(
      files.map(async (file) => [file, await readFile(join(PROJECT, 'functions', file), 'utf8')] as const),
    );
    const entries = sources.filter(([, text]) => text.includes('export const handler')).map(([file]) => file);
    expect(functions.map(({ entry }) => entry).sort()).toEqual(
      [...entries.map((file) => `functions/${file}`), 'examples/refund/function.ts'].sort(),
    );
  });

  test('run on Node 24 on ARM, traced, with a log group of their own that forgets', () => {
    const logs = new Set<string>();
    for (const [id, { Properties }] of entriesOf(template, 'AWS::Lambda::Function')) {
      expect(Properties, id).toMatchObject({
        Runtime: 'nodejs24.x',
        Architectures: ['arm64'],
        TracingConfig: { Mode: 'Active' },
        LoggingConfig: { LogFormat: 'JSON', ApplicationLogLevel: 'INFO' },
      });
      logs.add(JSON.stringify((Properties['LoggingConfig'] as Record<string, unknown>)['LogGroup']));
    }
    expect(logs.size).toBe(FUNCTIONS.length);
    for (const [, { Properties }] of entriesOf(template, 'AWS::Logs::LogGroup')) {
      expect(Properties).toMatchObject({ RetentionInDays: 30 });
    }
  });

  test('are told where a service is exactly when they may use it', () => {
    for (const fn of planCloud(template).functions) {
      const may = statementsOf(template, fn.name).flatMap(({ Action }) => asArray(Action));
      const uses = (service: string) => may.some((action) => action.startsWith(`${service}:`));
      const told = (name: string) => name in fn.environment;
      expect(uses('s3'), fn.name).toBe(
        ['WALKBACK_BUCKET', 'WALKBACK_ANCHOR_BUCKET', 'WALKBACK_EXPORT_BUCKET'].some(told),
      );
      expect(uses('kms'), fn.name).toBe(told('WALKBACK_ANCHOR_KEY_ARN'));
      expect(uses('events'), fn.name).toBe(told('WALKBACK_EVENT_BUS'));
      expect(uses('states'), fn.name).toBe(told('WALKBACK_STATE_MACHINE_ARN'));
      expect(uses('secretsmanager'), fn.name).toBe(
        told('E2B_API_KEY_SECRET_ARN') ||
          told('WALKBACK_HTTP_TOOL_SECRET_ARN') ||
          told('WALKBACK_CONSOLE_SECRET_ARN'),
      );
      const tables = told('WALKBACK_SESSIONS_TABLE') || told('WALKBACK_SAGAS_TABLE');
      expect(
        may.includes('dynamodb:GetItem') || may.includes('dynamodb:Query') || may.includes('dynamodb:Scan'),
        fn.name,
      ).toBe(tables);
    }
  });

  test('have roles without a managed policy', () => {
    for (const [id, { Properties }] of entriesOf(template, 'AWS::IAM::Role')) {
      expect(Properties['ManagedPolicyArns'], id).toBeUndefined();
    }
  });

  test('that run asynchronously have somewhere to leave what failed', () => {
    expect(entriesOf(template, 'AWS::Lambda::EventInvokeConfig')).toHaveLength(3);
    for (const [, { Properties }] of entriesOf(template, 'AWS::Lambda::EventInvokeConfig')) {
      expect(Properties).toMatchObject({ DestinationConfig: { OnFailure: {} } });
    }
    for (const [, { Properties }] of entriesOf(template, 'AWS::Events::Rule')) {
      for (const target of asArray(Properties['Targets'])) expect(target).toHaveProperty('DeadLetterConfig');
    }
  });
});

describe('permissions', () => {
  /** Actions that AWS knows no resource for. */
  const WITHOUT_RESOURCE =
    /^(?:xray:|dynamodb:ListStreams$|logs:(?:\w+LogDeliver\w+|PutResourcePolicy|Describe\w+)$)/;

  test('name their resources, and never an action with a wildcard', () => {
    for (const { Action, Resource } of allStatements(template)) {
      for (const action of asArray(Action)) {
        expect(action).not.toContain('*');
        if (asArray(Resource).includes('*')) expect(action).toMatch(WITHOUT_RESOURCE);
      }
    }
  });

  test('let the machine call the two functions of its definition and the tools, and nothing else', () => {
    const callable = machineStatements(template)
      .filter(({ Action }) => Action === 'lambda:InvokeFunction')
      .map(({ Resource }) => JSON.stringify(Resource))
      .join();
    for (const { name, tool, grants } of FUNCTIONS) {
      const isCallable =
        tool === true ||
        grants.httpTool === true ||
        grants.servesTools === true ||
        ['advance-saga', 'announce-await'].includes(name);
      expect(callable.includes(`"${logicalIdOf(template, `walkback-${name}`)}"`), name).toBe(isCallable);
    }
  });

  test('let the API and the console call exactly the functions that people may call', () => {
    for (const serving of FUNCTIONS.filter(({ grants }) => grants.servesPeople === true)) {
      const callable = statementsOf(template, `walkback-${serving.name}`)
        .filter(({ Action }) => asArray(Action).includes('lambda:InvokeFunction'))
        .flatMap(({ Resource }) => asArray(Resource).map((one) => JSON.stringify(one)));
      const expected = FUNCTIONS.filter(isForPeople).map(({ name }) =>
        JSON.stringify({ 'Fn::GetAtt': [logicalIdOf(template, `walkback-${name}`), 'Arn'] }),
      );
      expect(callable.sort(), serving.name).toEqual(expected.sort());
    }
  });

  test('put a token before every route of the API, with audience and scope, and log no header, query or path', () => {
    const routes = planCloud(template).routes;
    const authorizer = { audience: ['walkback'], scopes: ['walkback/act'] };
    expect(routes.filter(({ key }) => key.includes('/v1/'))).toEqual([
      expect.objectContaining({ key: 'ANY /v1/{function+}', authorizer }),
    ]);
    expect(
      routes
        .filter((route) => route.authorizer === undefined)
        .map(({ key }) => key)
        .sort(),
    ).toEqual(['$default', 'ANY /openapi.json']);
    const [[, stage] = []] = entriesOf(template, 'AWS::ApiGatewayV2::Stage');
    const { Format } = (stage?.Properties['AccessLogSettings'] ?? {}) as { Format?: string };
    expect(Format).toContain('$context.requestId');
    expect(Format).not.toMatch(/path|header|query|authorizer\.claims\.(?!sub)/i);
    expect(stage?.Properties['DefaultRouteSettings']).toEqual({
      ThrottlingBurstLimit: 100,
      ThrottlingRateLimit: 50,
    });
    const [[, api] = []] = entriesOf(template, 'AWS::ApiGatewayV2::Api');
    expect(api?.Properties['CorsConfiguration']).toBeUndefined();
  });

  test('let only the machine and the functions that drive steps themselves call a tool', () => {
    const tool = `"${logicalIdOf(template, 'walkback-http-tool')}"`;
    const callers = FUNCTIONS.map(({ name }) => name).filter((name) =>
      JSON.stringify(
        statementsOf(template, `walkback-${name}`).filter(({ Action }) =>
          asArray(Action).includes('lambda:InvokeFunction'),
        ),
      ).includes(tool),
    );
    expect(callers).toEqual(
      FUNCTIONS.filter(({ grants }) => grants.callsTools === true).map(({ name }) => name),
    );
  });

  test('keep agents from approving: a backend calls neither answer nor operate-saga, a reviewer neither captures nor ends a session', () => {
    const callable = (policy: string): string[] => {
      const text = JSON.stringify(managedPolicy(template, policy));
      return FUNCTIONS.map(({ name }) => name).filter((name) =>
        text.includes(`"${logicalIdOf(template, `walkback-${name}`)}"`),
      );
    };
    const backend = callable('AgentBackend');
    expect(backend).toEqual(expect.arrayContaining(['checkpoint', 'rollback', 'start-saga']));
    for (const name of ['answer', 'operate-saga', 'rewind', 'put-catalog', 'sweep', 'advance-saga']) {
      expect(backend).not.toContain(name);
    }
    const reviewer = callable('Reviewer');
    expect(reviewer).toEqual(expect.arrayContaining(['answer', 'rewind', 'rollback', 'revert']));
    for (const name of ['checkpoint', 'merge', 'start-saga', 'operate-saga', 'end-session']) {
      expect(reviewer).not.toContain(name);
    }
  });

  test('of who reads bundles tell one that is gone from one that is forbidden', () => {
    const having = (action: string) => FUNCTIONS.filter(({ name }) => actionsOf(name).includes(action));
    expect(having('s3:GetObject').map(({ name }) => name)).toContain('rehydrate');
    expect(having('s3:ListBucket')).toEqual(having('s3:GetObject'));
  });

  test('to delete a bundle are with publish-session-events alone', () => {
    const deleting = FUNCTIONS.filter(({ name }) => actionsOf(name).includes('s3:DeleteObject'));
    expect(deleting.map(({ name }) => name)).toEqual(['publish-session-events']);
  });
});

test('the template names no account, no region and no secret', () => {
  const text = JSON.stringify(template);
  expect(text).not.toMatch(/\b\d{12}\b/);
  expect(text).not.toMatch(/\b(?:us|eu|ap|sa|ca|me|af)-(?:north|south|east|west|central)[a-z]*-\d\b/);
  expect(text).not.toMatch(/e2b_[0-9a-f]{8}|AKIA|sk_(?:test|live)/);
});

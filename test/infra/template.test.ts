import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { planCloud } from '../../local/plan.ts';
import { loadTemplate, PROJECT, type Resource, type Template } from '../../local/template.ts';

let template: Template;
beforeAll(async () => {
  template = await loadTemplate();
});

const entriesOf = (type: string): [string, Resource][] =>
  Object.entries(template.Resources).filter(([, resource]) => resource.Type === type);
const only = (type: string): Resource => {
  const [[, resource] = [], ...more] = entriesOf(type);
  if (resource === undefined || more.length > 0) throw new Error(`not exactly one ${type}`);
  return resource;
};

interface Statement {
  Action: string | string[];
  Resource: unknown;
  Effect: string;
}

const logicalIdOf = (functionName: string): string => {
  const found = entriesOf('AWS::Lambda::Function').find(
    ([, resource]) => resource.Properties['FunctionName'] === functionName,
  );
  if (found === undefined) throw new Error(`no ${functionName}`);
  return found[0];
};

/** Everything the policies of a function's role allow. */
const statementsOf = (functionName: string): Statement[] => {
  const role = JSON.stringify(template.Resources[logicalIdOf(functionName)]?.Properties['Role']);
  return entriesOf('AWS::IAM::Policy')
    .filter(([, policy]) =>
      (policy.Properties['Roles'] as { Ref: string }[]).some((one) => role.includes(`"${one.Ref}"`)),
    )
    .flatMap(([, policy]) => (policy.Properties['PolicyDocument'] as { Statement: Statement[] }).Statement);
};
const actionsOf = (functionName: string): string[] =>
  statementsOf(functionName).flatMap((statement) => statement.Action);

const functionNames = (): string[] => planCloud(template).functions.map((fn) => fn.name);

describe('the table', () => {
  test('has the keys, indexes and expiry that the design names', () => {
    const [sessions] = planCloud(template).tables;
    expect(sessions?.KeySchema).toEqual([
      { AttributeName: 'pk', KeyType: 'HASH' },
      { AttributeName: 'sk', KeyType: 'RANGE' },
    ]);
    const indexes = sessions?.GlobalSecondaryIndexes.map((index) => [
      index.IndexName,
      index.KeySchema.map((key) => key.AttributeName).join('/'),
    ]);
    expect(indexes).toEqual([
      ['gsi_checkpoint', 'checkpointId'],
      ['gsi_message', 'messageId/sk'],
    ]);
    expect(sessions?.TimeToLiveSpecification).toEqual({ AttributeName: 'expiresAt', Enabled: true });
  });

  test('is recoverable, protected and outlives the stack', () => {
    for (const [, table] of entriesOf('AWS::DynamoDB::Table')) {
      expect(table.Properties).toMatchObject({
        PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
        DeletionProtectionEnabled: true,
      });
      expect(table).toMatchObject({ DeletionPolicy: 'Retain' });
    }
  });

  test('feeds its stream to publish-events, with retries, bisection and a dead letter queue', () => {
    const mappings = entriesOf('AWS::Lambda::EventSourceMapping').map(([, { Properties }]) => Properties);
    const consumers = ['walkback-publish-events', 'walkback-publish-saga-events'];
    expect(mappings).toHaveLength(consumers.length);
    for (const name of consumers) {
      const mapping = mappings.find(
        ({ FunctionName }) => JSON.stringify(FunctionName) === JSON.stringify({ Ref: logicalIdOf(name) }),
      );
      expect(mapping, name).toMatchObject({
        BisectBatchOnFunctionError: true,
        MaximumRetryAttempts: 10,
        FunctionResponseTypes: ['ReportBatchItemFailures'],
        StartingPosition: 'TRIM_HORIZON',
        DestinationConfig: { OnFailure: {} },
      });
      expect(actionsOf(name)).toContain('sqs:SendMessage');
    }
  });
});

describe('the bucket', () => {
  test('is private, encrypted, versioned and cleans up after itself', () => {
    const bucket = only('AWS::S3::Bucket');
    expect(bucket).toMatchObject({ DeletionPolicy: 'Retain' });
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

  test('refuses anything without TLS', () => {
    const policy = only('AWS::S3::BucketPolicy').Properties['PolicyDocument'];
    expect(policy).toMatchObject({
      Statement: expect.arrayContaining([
        expect.objectContaining({
          Effect: 'Deny',
          Action: 's3:*',
          Condition: { Bool: { 'aws:SecureTransport': 'false' } },
        }),
      ]),
    });
  });
});

describe('the functions', () => {
  test('each has an entry on disk, and each entry on disk is deployed', async () => {
    const plan = planCloud(template);
    for (const fn of plan.functions) expect(existsSync(join(PROJECT, fn.entry)), fn.entry).toBe(true);
    const files = await readdir(join(PROJECT, 'functions'));
    const shared = ['runtime.ts', 'saga-runtime.ts', 'handler.ts'];
    const entries = files.filter((file) => file.endsWith('.ts') && !shared.includes(file));
    const ours = plan.functions.map((fn) => fn.entry).filter((entry) => !entry.startsWith('examples/'));
    expect(ours.sort()).toEqual(entries.map((file) => `functions/${file}`).sort());
  });

  test('run on Node 24 on ARM', () => {
    for (const [, resource] of entriesOf('AWS::Lambda::Function')) {
      expect(resource.Properties).toMatchObject({ Runtime: 'nodejs24.x', Architectures: ['arm64'] });
    }
  });

  test('may do to a service exactly when they are told where it is', () => {
    for (const fn of planCloud(template).functions) {
      const services = new Set(actionsOf(fn.name).map((action) => action.split(':')[0]));
      const told = (name: string) => name in fn.environment;
      expect(services.has('s3'), fn.name).toBe(told('WALKBACK_BUCKET'));
      expect(services.has('events'), fn.name).toBe(told('WALKBACK_EVENT_BUS'));
      expect(services.has('secretsmanager'), fn.name).toBe(
        told('E2B_API_KEY_SECRET_ARN') || told('WALKBACK_HTTP_TOOL_SECRET_ARN'),
      );
      expect(services.has('dynamodb'), fn.name).toBe(
        told('WALKBACK_SESSIONS_TABLE') ||
          told('WALKBACK_SAGAS_TABLE') ||
          fn.name === 'walkback-publish-saga-events',
      );
    }
  });

  test('that only read can not write, and only publish-events may delete a bundle', () => {
    for (const name of ['walkback-timeline', 'walkback-context', 'walkback-diff', 'walkback-list-sessions']) {
      expect(actionsOf(name).filter((action) => /Put|Update|Delete|Write/.test(action))).toEqual([]);
    }
    const deleting = functionNames().filter((name) => actionsOf(name).includes('s3:DeleteObject'));
    expect(deleting).toEqual(['walkback-publish-events']);
  });

  test('are granted nothing on everything', () => {
    for (const name of functionNames()) {
      for (const statement of statementsOf(name)) {
        // Stream listing has no narrower resource.
        if (statement.Action === 'dynamodb:ListStreams') continue;
        expect(statement.Resource, `${name} ${String(statement.Action)}`).not.toBe('*');
        expect([statement.Action].flat().filter((action) => action.includes('*'))).toEqual([]);
      }
    }
  });
});

test('the template names no account, no region and no secret', () => {
  const text = JSON.stringify(template);
  expect(text).not.toMatch(/\b\d{12}\b/);
  expect(text).not.toMatch(/\b(?:us|eu|ap|sa|ca|me|af)-(?:north|south|east|west|central)[a-z]*-\d\b/);
  expect(text).not.toMatch(/e2b_[0-9a-f]{8}|AKIA/);
});

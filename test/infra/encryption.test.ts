/** With `encryptionKey` nothing at rest is left to another key, and every service may use it. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Stack } from 'aws-cdk-lib';
import { Template as CdkTemplate } from 'aws-cdk-lib/assertions';
import { Key } from 'aws-cdk-lib/aws-kms';
import { Secret } from 'aws-cdk-lib/aws-secretsmanager';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { beforeAll, describe, expect, test } from 'vitest';
import { FUNCTIONS } from '../../cdk/functions.ts';
import { readSettings } from '../../cdk/settings.ts';
import type { WalkbackProps } from '../../cdk/walkback.ts';
import { planCloud } from '../../local/plan.ts';
import { createResolver } from '../../local/resolve.ts';
import { loadTemplate, PROJECT, type Template } from '../../local/template.ts';
import { synthesise } from '../support/synthesise.ts';
import {
  asArray,
  encryptionKeysOf,
  entriesOf,
  machineStatements,
  managedPolicy,
  type Statement,
  statementsOf,
} from '../support/template.ts';

const withKey = (stack: Stack): WalkbackProps => ({
  ...readSettings(stack),
  encryptionKey: new Key(stack, 'CustomerKey', { enableKeyRotation: true }),
});

let stack: Stack;
let template: Template;
let keyId: string;
let plain: Template;
beforeAll(async () => {
  plain = await loadTemplate();
  ({ stack, template } = synthesise(withKey));
  [[keyId = ''] = []] = encryptionKeysOf(template);
});

/** Where each kind of resource names the key it is encrypted with. */
const KEY_OF: Record<string, string> = {
  'AWS::Athena::WorkGroup': 'WorkGroupConfiguration',
  'AWS::DynamoDB::Table': 'SSESpecification',
  'AWS::Events::Archive': 'KmsKeyIdentifier',
  'AWS::Events::EventBus': 'KmsKeyIdentifier',
  'AWS::Lambda::Function': 'KmsKeyArn',
  'AWS::Logs::LogGroup': 'KmsKeyId',
  'AWS::S3::Bucket': 'BucketEncryption',
  'AWS::SNS::Topic': 'KmsMasterKeyId',
  'AWS::SQS::Queue': 'KmsMasterKeyId',
  'AWS::StepFunctions::StateMachine': 'EncryptionConfiguration',
};

/** Definitions of the template itself: nothing of a customer is stored in them. */
const STORE_NOTHING =
  /^AWS::(?:Athena::NamedQuery|CloudWatch|Glue|IAM|EventSchemas|KMS|Events::Rule|Lambda::(?:EventInvokeConfig|EventSourceMapping|Permission)|S3::BucketPolicy|SNS::TopicPolicy|SQS::QueuePolicy)/;

test('everything that stores something is encrypted with the key, but for what the key failed on', () => {
  const left = Object.entries(template.Resources).flatMap(([id, { Type, Properties }]) => {
    if (STORE_NOTHING.test(Type)) return [];
    const property = KEY_OF[Type];
    const named = property === undefined ? undefined : JSON.stringify(Properties[property] ?? '');
    return named?.includes(`"${keyId}"`) === true ? [] : [id];
  });
  expect(left).toEqual([expect.stringMatching(/^WalkbackEventDeadLettersQueue/)]);
});

test('nothing waits for itself: key, bus, machine and their policies', () => {
  // Throws on a cycle, which synthesis does not see and a deployment would.
  expect(() => CdkTemplate.fromStack(stack)).not.toThrow();
});

test('the embedded cloud reads the template all the same', () => {
  const [plan, without] = [planCloud(template), planCloud(plain)];
  expect(plan.stateMachines[0]?.definition).toBe(without.stateMachines[0]?.definition);
  expect(plan.tables).toEqual(without.tables);
});

describe('the rights on the key', () => {
  const IN_WORDS: [string, string][] = [
    ['000000000000', 'ACCOUNT'],
    ['us-east-1', 'REGION'],
  ];
  /** As a person writes it. */
  const plainly = (value: unknown): unknown => {
    const text = JSON.stringify(createResolver(template).value(value));
    return JSON.parse(IN_WORDS.reduce((sum, [known, word]) => sum.replaceAll(known, word), text));
  };
  type KeyStatement = Statement & { Principal: { Service?: string } };
  const policy = (): KeyStatement[] =>
    encryptionKeysOf(template).flatMap(
      ([, { Properties }]) => (Properties['KeyPolicy'] as { Statement: KeyStatement[] }).Statement,
    );

  test('are those that docs/operations.md gives to the owner of an imported one', async () => {
    const text = await readFile(join(PROJECT, 'docs/operations.md'), 'utf8');
    const [, json = ''] = /```json key-policy\n([\s\S]*?)```/.exec(text) ?? [];
    const documented = JSON.parse(json) as { Statement: unknown[] };
    expect(documented.Statement).toEqual(plainly(policy()));
  });

  test('name the bus, the account or the log groups where the service tells KMS', () => {
    const [bus] = entriesOf(template, 'AWS::Events::EventBus').map(
      ([, { Properties }]) => Properties['Name'],
    );
    const unconditional = policy().filter(({ Principal, Condition }) => Principal.Service && !Condition);
    expect(unconditional).toHaveLength(2);
    const archive = policy().find((one) => JSON.stringify(one).includes('ArchiveOfEvents'));
    expect(JSON.stringify(archive)).toContain(`:event-bus/${String(bus)}`);
  });

  test('let the machine encrypt its history and its alerts, and finance decrypt through DynamoDB only', () => {
    const machine = machineStatements(template).filter(({ Action }) =>
      asArray(Action).some((action) => action.startsWith('kms:')),
    );
    expect(machine.map(({ Action }) => Action)).toEqual(
      expect.arrayContaining([['kms:Decrypt', 'kms:GenerateDataKey']]),
    );
    const [, , decrypt] = managedPolicy(template, 'AccessFinance');
    expect(decrypt).toMatchObject({
      Action: 'kms:Decrypt',
      Condition: { StringEquals: { 'kms:ViaService': {} } },
    });
  });
});

test('a topic that is given stays as it is, and the machine may use the key it has', () => {
  const given = synthesise((inStack) => ({
    ...withKey(inStack),
    alarmTopic: new Topic(inStack, 'Theirs', { masterKey: new Key(inStack, 'TheirKey') }),
  }));
  const topics = entriesOf(given.template, 'AWS::SNS::Topic');
  expect(topics.map(([id]) => id)).toEqual([expect.stringMatching(/^Theirs/)]);
  const rights = JSON.stringify(machineStatements(given.template));
  expect(rights).toMatch(/"kms:GenerateDataKey"\][^}]*"TheirKey/);
});

test('a secret under a key of its own is decrypted by the functions that read it, and that key by nothing else', () => {
  const given = synthesise((inStack) => ({
    ...readSettings(inStack),
    e2bApiKeySecret: new Secret(inStack, 'Theirs', { encryptionKey: new Key(inStack, 'TheirKey') }),
  })).template;
  const [[theirs] = ['']] = encryptionKeysOf(given);
  const reading = FUNCTIONS.filter(({ name, tool, grants }) => {
    // Nobody signs in here.
    if (tool === true || grants.servesPeople === true) return false;
    const rights = statementsOf(given, `walkback-${name}`);
    const decrypt = rights.filter(({ Resource }) => JSON.stringify(Resource).includes(`"${theirs}"`));
    for (const { Action, Condition } of decrypt) {
      expect(Action).toBe('kms:Decrypt');
      expect(JSON.stringify(Condition)).toMatch(/kms:ViaService.*secretsmanager\./);
    }
    return decrypt.length > 0;
  });
  expect(reading).toEqual(FUNCTIONS.filter(({ grants }) => grants.sandbox === true));
});

test('an imported key is used the same, and its policy is left to its owner', () => {
  const keyArn = 'arn:aws:kms:eu-west-1:111122223333:key/0a1b2c3d-0a1b-4a1b-8a1b-0a1b2c3d4e5f';
  const imported = synthesise(readSettings, { 'walkback:kmsKeyArn': keyArn }).template;
  expect(encryptionKeysOf(imported)).toEqual([]);
  for (const [id, { Properties }] of entriesOf(imported, 'AWS::Logs::LogGroup')) {
    expect(Properties['KmsKeyId'], id).toBe(keyArn);
  }
});

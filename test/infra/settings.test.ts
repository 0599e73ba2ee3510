/** Every choice of `cdk deploy -c walkback:<name>=<value>` reaches what it is about, and a mistake in one is told. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { RemovalPolicy, Stack } from 'aws-cdk-lib';
import { RetentionDays } from 'aws-cdk-lib/aws-logs';
import { expect, test } from 'vitest';
import { readSettings, SETTING_NAMES, stackNameOf } from '../../cdk/settings.ts';
import { PROJECT } from '../../local/template.ts';
import { createApp } from '../support/synthesise.ts';

const read = (context: Record<string, unknown>) =>
  readSettings(new Stack(createApp({ context }), 'Walkback'));

const KEY = 'arn:aws:kms:eu-west-1:111122223333:key/0a1b2c3d-0a1b-4a1b-8a1b-0a1b2c3d4e5f';
const TOPIC = 'arn:aws:sns:eu-west-1:111122223333:theirs';

/** As the command line gives it, and what the construct is given. */
const CASES: Record<
  (typeof SETTING_NAMES)[number],
  [string, (props: ReturnType<typeof read>) => unknown, unknown]
> = {
  namePrefix: ['second', ({ namePrefix }) => namePrefix, 'second'],
  e2bApiKeySecretName: ['our/e2b', ({ e2bApiKeySecret }) => e2bApiKeySecret.secretName, 'our/e2b'],
  httpToolSecretName: ['our/http', ({ httpToolSecret }) => httpToolSecret.secretName, 'our/http'],
  kmsKeyArn: [KEY, ({ encryptionKey }) => encryptionKey?.keyArn, KEY],
  alarmTopicArn: [TOPIC, ({ alarmTopic }) => alarmTopic?.topicArn, TOPIC],
  runbookUrl: ['https://wiki.example', ({ runbookUrl }) => runbookUrl, 'https://wiki.example'],
  consoleUrl: ['https://console.example', ({ consoleUrl }) => consoleUrl, 'https://console.example'],
  logRetentionDays: ['365', ({ logRetention }) => logRetention, RetentionDays.ONE_YEAR],
  supersededObjectDays: ['7', ({ supersededObjectRetention }) => supersededObjectRetention?.toDays(), 7],
  eventArchiveDays: ['90', ({ eventArchiveRetention }) => eventArchiveRetention?.toDays(), 90],
  ledgerExportDays: ['3650', ({ ledgerExportRetention }) => ledgerExportRetention?.toDays(), 3650],
  anchorRetentionDays: ['2557', ({ anchorRetention }) => anchorRetention?.toDays(), 2557],
  deletionProtection: ['false', ({ removalPolicy }) => removalPolicy, RemovalPolicy.DESTROY],
  opsItems: ['false', ({ opsItems }) => opsItems, false],
  tracing: ['false', ({ tracing }) => tracing, false],
  toolFunctions: ['pay, refund', ({ toolFunctions }) => toolFunctions, ['pay', 'refund']],
  examples: ['true', ({ examples }) => examples, true],
  oidcIssuer: ['https://other.example', ({ identity }) => identity?.issuer, 'https://other.example'],
  oidcAudience: ['ours', ({ identity }) => identity?.audience, 'ours'],
  oidcScope: ['act', ({ identity }) => identity?.scope, 'act'],
  oidcGroupPrefix: ['team-', ({ identity }) => identity?.groupPrefix, 'team-'],
  oidcClientId: ['console', ({ identity }) => identity?.clientId, 'console'],
  oidcClientSecretName: ['our/oidc', ({ identity }) => identity?.clientSecret?.secretName, 'our/oidc'],
  requireVerifiedApprover: ['false', (props) => props.requireVerifiedApprover, false],
};

/** Some only mean something beside others. */
const BESIDE = { 'walkback:oidcIssuer': 'https://id.example', 'walkback:oidcAudience': 'walkback' };

test.each(SETTING_NAMES)('%s is taken', (name) => {
  const [text, seen, expected] = CASES[name];
  expect(seen(read({ ...BESIDE, [`walkback:${name}`]: text }))).toEqual(expected);
  expect(seen(read(BESIDE))).not.toEqual(expected);
});

test.each([
  ['walkback:kmsKeyARN', KEY, /walkback:kmsKeyARN is not a setting; there are .*walkback:kmsKeyArn/],
  ['walkback:tracing', 'no', /walkback:tracing must be true or false/],
  ['walkback:eventArchiveDays', 'many', /walkback:eventArchiveDays must be a number of days/],
  ['walkback:logRetentionDays', '31', /does not keep logs for 31 days/],
  [
    'walkback:kmsKeyArn',
    'arn:aws:kms:eu-west-1:111122223333:alias/ours',
    /kmsKeyArn must be the ARN of a key/,
  ],
  ['walkback:runbookUrl', 'notaurl', /runbookUrl must be an http or https address/],
  ['walkback:runbookUrl', 'https://wiki.example/ops#top', /runbookUrl must be .* without fragment/],
  [
    'walkback:alarmTopicArn',
    'arn:aws:sqs:eu-west-1:111122223333:q',
    /alarmTopicArn must be the ARN of a topic/,
  ],
  ['walkback:namePrefix', '', /walkback:namePrefix must be a text/],
  ['walkback:oidcIssuer', 'https://id.example', /oidcIssuer and walkback:oidcAudience are given both/],
])('%s=%s is refused', (name, value, words) => {
  expect(() => read({ [name]: value })).toThrow(words);
});

test('another prefix is another stack, so that it replaces nothing of the first', () => {
  const named = (namePrefix?: string) =>
    stackNameOf(createApp({ context: { 'walkback:namePrefix': namePrefix } }));
  expect([named(), named('walkback'), named('second')]).toEqual(['Walkback', 'Walkback', 'Walkback-second']);
});

test('settings of others are none of ours', () => {
  expect(() => read({ 'other:kmsKeyARN': KEY, 'aws:cdk:bundling-stacks': [] })).not.toThrow();
});

test('docs/operations.md names every one', async () => {
  const text = await readFile(join(PROJECT, 'docs/operations.md'), 'utf8');
  for (const name of SETTING_NAMES) expect(text).toContain(`\`${name}\``);
});

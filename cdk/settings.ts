import { type App, Duration, RemovalPolicy, type Stack } from 'aws-cdk-lib';
import { Key } from 'aws-cdk-lib/aws-kms';
import { RetentionDays } from 'aws-cdk-lib/aws-logs';
import { Secret } from 'aws-cdk-lib/aws-secretsmanager';
import { Topic } from 'aws-cdk-lib/aws-sns';
import type { WalkbackProps } from './walkback.ts';

const PREFIX = 'walkback:';

/** All settings. docs/operations.md has the same list. */
export const SETTING_NAMES = [
  'namePrefix',
  'e2bApiKeySecretName',
  'httpToolSecretName',
  'kmsKeyArn',
  'alarmTopicArn',
  'opsItems',
  'runbookUrl',
  'consoleUrl',
  'logRetentionDays',
  'supersededObjectDays',
  'eventArchiveDays',
  'anchorRetentionDays',
  'ledgerExportDays',
  'deletionProtection',
  'tracing',
  'toolFunctions',
  'examples',
  'oidcIssuer',
  'oidcAudience',
  'oidcScope',
  'oidcGroupPrefix',
  'oidcClientId',
  'oidcClientSecretName',
  'requireVerifiedApprover',
] as const;
type SettingName = (typeof SETTING_NAMES)[number];

/**
 * Another prefix gives another stack. In the same stack it would replace every function, and the machine
 * under sagas in flight, although a second deployment was meant.
 */
export const stackNameOf = (app: App): string => {
  const namePrefix: unknown = app.node.tryGetContext(`${PREFIX}namePrefix`);
  const isOther = typeof namePrefix === 'string' && namePrefix !== '' && namePrefix !== 'walkback';
  return isOther ? `Walkback-${namePrefix}` : 'Walkback';
};

/** An unknown name would be silently ignored, and the default deployed instead. */
const checkNames = (stack: Stack): void => {
  const context: unknown = stack.node.getAllContext();
  const given = typeof context === 'object' && context !== null ? Object.keys(context) : [];
  const names: readonly string[] = SETTING_NAMES.map((name) => PREFIX + name);
  const unknown = given.filter((name) => name.startsWith(PREFIX) && !names.includes(name));
  if (unknown.length === 0) return;
  throw new Error(`context ${unknown.join(', ')} is not a setting; there are ${names.join(', ')}`);
};

/**
 * The settings of `cdk deploy -c walkback:<name>=<value>`. Each has a safe default. For a VPC or finer
 * control, use the construct in your own app.
 */
export const readSettings = (stack: Stack): WalkbackProps => {
  checkNames(stack);
  const given = (name: SettingName): unknown => stack.node.tryGetContext(PREFIX + name) ?? undefined;

  const optionalText = (name: SettingName): string | undefined => {
    const value = given(name);
    if (value === undefined) return undefined;
    if (typeof value !== 'string' || value === '') throw new Error(`context walkback:${name} must be a text`);
    return value;
  };

  const flag = (name: SettingName, fallback: boolean): boolean => {
    const value = given(name) ?? fallback;
    // `-c name=value` always gives texts; cdk.json can give booleans.
    if (value === true || value === 'true') return true;
    if (value === false || value === 'false') return false;
    throw new Error(`context walkback:${name} must be true or false`);
  };

  const days = (name: SettingName): number | undefined => {
    const value = given(name);
    if (value === undefined) return undefined;
    const count = Number(value);
    if (Number.isInteger(count) && count > 0) return count;
    throw new Error(`context walkback:${name} must be a number of days`);
  };

  const logRetention = (): RetentionDays | undefined => {
    const count = days('logRetentionDays');
    if (count === undefined) return undefined;
    const known = Object.values(RetentionDays).find((one) => Number(one) === count);
    if (typeof known === 'number') return known;
    throw new Error(`context walkback:logRetentionDays: CloudWatch does not keep logs for ${count} days`);
  };

  const keyArn = optionalText('kmsKeyArn');
  // Policies name the key, and rights on an alias are not rights on its key: everything would deploy, and
  // nothing could be read.
  if (keyArn !== undefined && !/^arn:[\w-]+:kms:[\w-]+:\d{12}:key\/[\w-]+$/.test(keyArn)) {
    throw new Error('context walkback:kmsKeyArn must be the ARN of a key, not of an alias');
  }
  const issuer = optionalText('oidcIssuer');
  const audience = optionalText('oidcAudience');
  if ((issuer === undefined) !== (audience === undefined)) {
    throw new Error('context walkback:oidcIssuer and walkback:oidcAudience are given both, or neither');
  }
  const clientSecretName = optionalText('oidcClientSecretName');
  const consoleUrl = optionalText('consoleUrl');
  if (consoleUrl !== undefined && !/^https:\/\/[^\s?#]+$/.test(consoleUrl)) {
    throw new Error('context walkback:consoleUrl must be an https address without query and fragment');
  }
  const runbookUrl = optionalText('runbookUrl');
  // Alarms append the section to it.
  if (runbookUrl !== undefined && !/^https?:\/\/[^\s#]+$/.test(runbookUrl)) {
    throw new Error('context walkback:runbookUrl must be an http or https address without fragment');
  }
  const topicArn = optionalText('alarmTopicArn');
  if (topicArn !== undefined && !/^arn:[\w-]+:sns:[\w-]+:\d{12}:[\w-]+$/.test(topicArn)) {
    throw new Error('context walkback:alarmTopicArn must be the ARN of a topic of SNS, not of a FIFO topic');
  }
  const versionDays = days('supersededObjectDays');
  const archiveDays = days('eventArchiveDays');
  const anchorDays = days('anchorRetentionDays');
  const exportDays = days('ledgerExportDays');
  return {
    namePrefix: optionalText('namePrefix'),
    consoleUrl,
    e2bApiKeySecret: Secret.fromSecretNameV2(
      stack,
      'E2bApiKey',
      optionalText('e2bApiKeySecretName') ?? 'walkback/e2b-api-key',
    ),
    httpToolSecret: Secret.fromSecretNameV2(
      stack,
      'HttpToolKey',
      optionalText('httpToolSecretName') ?? 'walkback/http-tool',
    ),
    encryptionKey: keyArn === undefined ? undefined : Key.fromKeyArn(stack, 'Key', keyArn),
    alarmTopic: topicArn === undefined ? undefined : Topic.fromTopicArn(stack, 'AlarmTopic', topicArn),
    logRetention: logRetention(),
    supersededObjectRetention: versionDays === undefined ? undefined : Duration.days(versionDays),
    anchorRetention: anchorDays === undefined ? undefined : Duration.days(anchorDays),
    ledgerExportRetention: exportDays === undefined ? undefined : Duration.days(exportDays),
    eventArchiveRetention: archiveDays === undefined ? undefined : Duration.days(archiveDays),
    removalPolicy: flag('deletionProtection', true) ? undefined : RemovalPolicy.DESTROY,
    tracing: flag('tracing', true),
    opsItems: flag('opsItems', true),
    runbookUrl,
    toolFunctions: optionalText('toolFunctions')
      ?.split(',')
      .map((name) => name.trim()),
    examples: flag('examples', false),
    ...(issuer !== undefined &&
      audience !== undefined && {
        identity: {
          issuer,
          audience,
          scope: optionalText('oidcScope'),
          groupPrefix: optionalText('oidcGroupPrefix'),
          clientId: optionalText('oidcClientId'),
          ...(clientSecretName !== undefined && {
            clientSecret: Secret.fromSecretNameV2(stack, 'ConsoleClient', clientSecretName),
          }),
        },
      }),
    requireVerifiedApprover: flag('requireVerifiedApprover', issuer !== undefined),
  };
};

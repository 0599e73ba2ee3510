import { Duration, RemovalPolicy, type Stack } from 'aws-cdk-lib';
import { Key } from 'aws-cdk-lib/aws-kms';
import { RetentionDays } from 'aws-cdk-lib/aws-logs';
import { Secret } from 'aws-cdk-lib/aws-secretsmanager';
import { Topic } from 'aws-cdk-lib/aws-sns';
import type { WalkbackProps } from './walkback.ts';

/**
 * What an operator may choose with `cdk deploy -c walkback:<name>=<value>`; everything has a safe default. A VPC and
 * anything finer is for whoever puts the construct into an app of their own.
 */
export const readSettings = (stack: Stack): WalkbackProps => {
  const given = (name: string): unknown => stack.node.tryGetContext(`walkback:${name}`) ?? undefined;

  const optionalText = (name: string): string | undefined => {
    const value = given(name);
    if (value === undefined) return undefined;
    if (typeof value !== 'string' || value === '') throw new Error(`context walkback:${name} must be a text`);
    return value;
  };

  const flag = (name: string, fallback: boolean): boolean => {
    const value = given(name) ?? fallback;
    // `-c name=value` always gives texts; cdk.json gives booleans.
    if (value === true || value === 'true') return true;
    if (value === false || value === 'false') return false;
    throw new Error(`context walkback:${name} must be true or false`);
  };

  const days = (name: string): number | undefined => {
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
  const topicArn = optionalText('alarmTopicArn');
  const versionDays = days('supersededObjectDays');
  const archiveDays = days('eventArchiveDays');
  return {
    namePrefix: optionalText('namePrefix'),
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
    eventArchiveRetention: archiveDays === undefined ? undefined : Duration.days(archiveDays),
    removalPolicy: flag('deletionProtection', true) ? RemovalPolicy.RETAIN : RemovalPolicy.DESTROY,
    tracing: flag('tracing', true),
    runbookUrl: optionalText('runbookUrl'),
    toolFunctions: optionalText('toolFunctions')?.split(','),
    examples: flag('examples', false),
  };
};

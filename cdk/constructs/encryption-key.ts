/**
 * Permissions that services themselves need for a customer's key. Those of a function or the machine are in
 * its role.
 */
import { Aws } from 'aws-cdk-lib';
import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import type { IKey } from 'aws-cdk-lib/aws-kms';

const account = { 'aws:SourceAccount': Aws.ACCOUNT_ID };

/** By pattern, because groups have names that CloudFormation makes, and a key cannot wait for what waits for it. */
const logs = (): PolicyStatement =>
  new PolicyStatement({
    sid: 'LogGroups',
    principals: [new ServicePrincipal(`logs.${Aws.REGION}.amazonaws.com`)],
    actions: ['kms:Encrypt', 'kms:Decrypt', 'kms:ReEncrypt*', 'kms:GenerateDataKey*', 'kms:DescribeKey'],
    resources: ['*'],
    conditions: {
      ArnLike: {
        'kms:EncryptionContext:aws:logs:arn': `arn:${Aws.PARTITION}:logs:${Aws.REGION}:${Aws.ACCOUNT_ID}:log-group:*`,
      },
    },
  });

/** An alarm whose topic it may not encrypt for tells nobody, and nobody is told that either. */
const alarms = (): PolicyStatement =>
  new PolicyStatement({
    sid: 'AlarmsToTheTopic',
    principals: [new ServicePrincipal('cloudwatch.amazonaws.com')],
    actions: ['kms:Decrypt', 'kms:GenerateDataKey'],
    resources: ['*'],
    conditions: { StringEquals: account },
  });

/** Rules that leave what failed in an encrypted queue, and a look at the key: KMS is told neither rule nor bus there. */
const deadLetters = (): PolicyStatement =>
  new PolicyStatement({
    sid: 'RulesToTheDeadLetters',
    principals: [new ServicePrincipal('events.amazonaws.com')],
    actions: ['kms:Decrypt', 'kms:GenerateDataKey', 'kms:DescribeKey'],
    resources: ['*'],
  });

/**
 * Lets log groups, alarms and rules use the key; event bus, archive and machine say what they need where they are made.
 * All of it does nothing to an imported key: docs/operations.md has the policy that one needs.
 */
export const letServicesUse = (key: IKey): void => {
  for (const statement of [logs(), alarms(), deadLetters()]) key.addToResourcePolicy(statement);
};

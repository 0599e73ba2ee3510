/**
 * Permissions that services themselves need for a customer's key. Those of a function or of the machine are
 * in its role.
 */
import { Aws } from 'aws-cdk-lib';
import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import type { IKey } from 'aws-cdk-lib/aws-kms';

const account = { 'aws:SourceAccount': Aws.ACCOUNT_ID };

/**
 * By a name pattern, because CloudFormation makes the names of groups, and a key cannot depend on what
 * depends on it.
 */
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

/** An alarm that may not encrypt for its topic reaches nobody, and nobody learns of that either. */
const alarms = (): PolicyStatement =>
  new PolicyStatement({
    sid: 'AlarmsToTheTopic',
    principals: [new ServicePrincipal('cloudwatch.amazonaws.com')],
    actions: ['kms:Decrypt', 'kms:GenerateDataKey'],
    resources: ['*'],
    conditions: { StringEquals: account },
  });

/**
 * For rules that put failed events into an encrypted queue, and for reading the key's metadata. KMS is not
 * told the rule or the bus in these calls.
 */
const deadLetters = (): PolicyStatement =>
  new PolicyStatement({
    sid: 'RulesToTheDeadLetters',
    principals: [new ServicePrincipal('events.amazonaws.com')],
    actions: ['kms:Decrypt', 'kms:GenerateDataKey', 'kms:DescribeKey'],
    resources: ['*'],
  });

/**
 * Lets log groups, alarms and rules use the key. The event bus, the archive and the machine get their
 * permissions where they are made. None of this has an effect on an imported key: docs/operations.md has the
 * policy that such a key needs.
 */
export const letServicesUse = (key: IKey): void => {
  for (const statement of [logs(), alarms(), deadLetters()]) key.addToResourcePolicy(statement);
};

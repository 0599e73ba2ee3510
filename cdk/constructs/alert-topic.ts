import { Aws } from 'aws-cdk-lib';
import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import { Topic } from 'aws-cdk-lib/aws-sns';
import type { Construct } from 'constructs';

/** Receives alarms and failed compensations when no topic was given. */
export const createAlertTopic = (scope: Construct, encryptionKey: IKey | undefined): Topic => {
  const topic = new Topic(scope, 'Alerts', {
    displayName: 'Walkback: somebody must look',
    enforceSSL: true,
    masterKey: encryptionKey,
  });
  // Enforcing TLS needs a policy, and the first policy removes the default that lets the account's alarms
  // publish.
  topic.addToResourcePolicy(
    new PolicyStatement({
      sid: 'AlarmsOfTheAccount',
      principals: [new ServicePrincipal('cloudwatch.amazonaws.com')],
      actions: ['sns:Publish'],
      resources: [topic.topicArn],
      conditions: { StringEquals: { 'aws:SourceAccount': Aws.ACCOUNT_ID } },
    }),
  );
  return topic;
};

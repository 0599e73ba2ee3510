import type { IKey } from 'aws-cdk-lib/aws-kms';
import {
  BlockPublicAccess,
  Bucket,
  BucketEncryption,
  type BucketProps,
  type IBucket,
  ObjectOwnership,
} from 'aws-cdk-lib/aws-s3';
import { NagSuppressions } from 'cdk-nag';
import type { Construct } from 'constructs';

interface PrivateBucketProps extends BucketProps {
  /** What is read in it, in words: the reason why it has no access logs by default. */
  what: string;
  encryptionKey: IKey | undefined;
  accessLogsBucket: IBucket | undefined;
}

/** The bucket of a construct: private, encrypted, TLS only. */
export const createPrivateBucket = (
  scope: Construct,
  { what, encryptionKey, accessLogsBucket, ...props }: PrivateBucketProps,
): Bucket => {
  const bucket = new Bucket(scope, 'Bucket', {
    encryption: encryptionKey === undefined ? BucketEncryption.S3_MANAGED : BucketEncryption.KMS,
    encryptionKey,
    bucketKeyEnabled: encryptionKey === undefined ? undefined : true,
    blockPublicAccess: BlockPublicAccess.BLOCK_ALL,
    objectOwnership: ObjectOwnership.BUCKET_OWNER_ENFORCED,
    enforceSSL: true,
    minimumTLSVersion: 1.2,
    serverAccessLogsBucket: accessLogsBucket,
    ...props,
  });
  if (accessLogsBucket === undefined) {
    NagSuppressions.addResourceSuppressions(bucket, [
      {
        id: 'AwsSolutions-S1',
        reason: `Who read ${what} is in CloudTrail's data events, where the account records them; the prop accessLogsBucket adds server access logs.`,
      },
    ]);
  }
  return bucket;
};

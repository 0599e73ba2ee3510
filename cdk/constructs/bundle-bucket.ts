import { Duration, type RemovalPolicy } from 'aws-cdk-lib';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import type { Bucket, IBucket } from 'aws-cdk-lib/aws-s3';
import { NagSuppressions } from 'cdk-nag';
import { Construct } from 'constructs';
import { createPrivateBucket } from './private-bucket.ts';
import type { WalkbackFunction } from './walkback-function.ts';

export interface BundleBucketProps {
  removalPolicy: RemovalPolicy;
  /** How long a deleted or replaced object can be restored. */
  supersededObjectRetention: Duration;
  encryptionKey?: IKey;
  accessLogsBucket?: IBucket;
}

/**
 * Git bundles: private, encrypted, TLS only, versioned. An object is deleted when the item that names it
 * expires, and can be restored for a while after that. It is never deleted for its own age, because a base
 * that is still built upon is old (C1).
 */
export class BundleBucket extends Construct {
  readonly bucket: Bucket;

  constructor(scope: Construct, id: string, props: BundleBucketProps) {
    super(scope, id);
    const { removalPolicy, encryptionKey, accessLogsBucket } = props;
    this.bucket = createPrivateBucket(this, {
      what: 'which bundle',
      encryptionKey,
      accessLogsBucket,
      removalPolicy,
      versioned: true,
      lifecycleRules: [
        {
          id: 'leftovers',
          noncurrentVersionExpiration: props.supersededObjectRetention,
          abortIncompleteMultipartUploadAfter: Duration.days(1),
          expiredObjectDeleteMarker: true,
        },
      ],
    });
  }

  /** Lets a function read, and sign URLs for reading. */
  bindRestore(fn: WalkbackFunction): void {
    this.#bind(fn, ['s3:GetObject']);
    this.#tellMissing(fn);
  }

  /** Lets a function read and write, and sign URLs for both. It cannot delete anything. */
  bindCapture(fn: WalkbackFunction): void {
    this.#bind(fn, ['s3:GetObject', 's3:PutObject']);
    this.#tellMissing(fn);
  }

  bindDelete(fn: WalkbackFunction): void {
    this.#bind(fn, ['s3:DeleteObject']);
  }

  /**
   * Without this right, S3 answers 403 instead of 404 for a missing object: a fault of the service, not
   * `BundleMissing`.
   */
  #tellMissing(fn: WalkbackFunction): void {
    fn.allow(['s3:ListBucket'], [this.bucket.bucketArn]);
  }

  #bind(fn: WalkbackFunction, actions: string[]): void {
    fn.fn.addEnvironment('WALKBACK_BUCKET', this.bucket.bucketName);
    fn.allow(actions, [this.bucket.arnForObjects('bases/*'), this.bucket.arnForObjects('sessions/*')]);
    NagSuppressions.addResourceSuppressions(
      fn.role,
      [
        {
          id: 'AwsSolutions-IAM5',
          reason:
            'Keys of objects end in hashes of their content; these two prefixes are all the bucket has.',
          appliesTo: [{ regex: '/^Resource::<.*Bucket.*\\.Arn>\\/(bases|sessions)\\/\\*$/' }],
        },
      ],
      true,
    );
  }
}

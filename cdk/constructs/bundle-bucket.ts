import { Duration, RemovalPolicy } from 'aws-cdk-lib';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { NodejsFunction } from 'aws-cdk-lib/aws-lambda-nodejs';
import { BlockPublicAccess, Bucket, BucketEncryption, ObjectOwnership } from 'aws-cdk-lib/aws-s3';
import { Construct } from 'constructs';

/** Git bundles: private, encrypted, TLS only, versioned. Objects leave with the items that name them. */
export class BundleBucket extends Construct {
  readonly bucket: Bucket;

  constructor(scope: Construct, id: string, props: { deletionProtection: boolean }) {
    super(scope, id);
    this.bucket = new Bucket(this, 'Bucket', {
      encryption: BucketEncryption.S3_MANAGED,
      blockPublicAccess: BlockPublicAccess.BLOCK_ALL,
      objectOwnership: ObjectOwnership.BUCKET_OWNER_ENFORCED,
      enforceSSL: true,
      minimumTLSVersion: 1.2,
      versioned: true,
      lifecycleRules: [
        {
          id: 'leftovers',
          noncurrentVersionExpiration: Duration.days(30),
          abortIncompleteMultipartUploadAfter: Duration.days(1),
          expiredObjectDeleteMarker: true,
        },
      ],
      removalPolicy: props.deletionProtection ? RemovalPolicy.RETAIN : RemovalPolicy.DESTROY,
    });
  }

  /** Put, get and head; nothing may be deleted. */
  bindWrite(fn: NodejsFunction): void {
    this.#bind(fn, ['s3:GetObject', 's3:PutObject']);
    // Without it S3 answers 403 instead of 404 for an object that is not there.
    fn.addToRolePolicy(
      new PolicyStatement({ actions: ['s3:ListBucket'], resources: [this.bucket.bucketArn] }),
    );
  }

  bindDelete(fn: NodejsFunction): void {
    this.#bind(fn, ['s3:DeleteObject']);
  }

  #bind(fn: NodejsFunction, actions: string[]): void {
    fn.addEnvironment('WALKBACK_BUCKET', this.bucket.bucketName);
    fn.addToRolePolicy(new PolicyStatement({ actions, resources: [this.bucket.arnForObjects('*')] }));
  }
}

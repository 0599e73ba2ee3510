import { Duration, type RemovalPolicy } from 'aws-cdk-lib';
import { Rule, Schedule } from 'aws-cdk-lib/aws-events';
import { LambdaFunction } from 'aws-cdk-lib/aws-events-targets';
import { AnyPrincipal, Effect, PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { type IKey, Key, KeySpec, KeyUsage } from 'aws-cdk-lib/aws-kms';
import { SqsDestination } from 'aws-cdk-lib/aws-lambda-destinations';
import { type Bucket, type IBucket, ObjectLockRetention } from 'aws-cdk-lib/aws-s3';
import { NagSuppressions } from 'cdk-nag';
import { Construct } from 'constructs';
import { createPrivateBucket } from './private-bucket.ts';
import type { DeadLetterQueue } from './stream-consumer.ts';
import type { WalkbackFunction } from './walkback-function.ts';

export interface LedgerAnchorsProps {
  removalPolicy: RemovalPolicy;
  /** How long nobody may delete or replace a digest. */
  retention: Duration;
  encryptionKey?: IKey;
  accessLogsBucket?: IBucket;
}

/** A digest is written once: never over another one, and only with the condition that ensures this. */
const PREFIX = 'anchors/*';

/**
 * The bucket of ledger digests and the key that signs them, out of reach of anyone who can write the tables.
 * The bucket locks its objects. Its policy and the key's policy also bind the account's administrators, until
 * one of them removes a policy, which CloudTrail shows.
 */
export class LedgerAnchors extends Construct {
  readonly bucket: Bucket;
  readonly key: Key;

  constructor(scope: Construct, id: string, props: LedgerAnchorsProps) {
    super(scope, id);
    this.key = new Key(this, 'Key', {
      description: 'Signs digests of the Walkback ledger',
      keySpec: KeySpec.ECC_NIST_P256,
      keyUsage: KeyUsage.SIGN_VERIFY,
      removalPolicy: props.removalPolicy,
    });
    const { removalPolicy, encryptionKey, accessLogsBucket } = props;
    this.bucket = createPrivateBucket(this, {
      what: 'which digest',
      encryptionKey,
      accessLogsBucket,
      removalPolicy,
      versioned: true,
      objectLockEnabled: true,
      objectLockDefaultRetention: ObjectLockRetention.governance(props.retention),
    });
    this.#nobodyChanges();
  }

  #nobodyChanges(): void {
    const everybody = { effect: Effect.DENY, principals: [new AnyPrincipal()] };
    const objects = [this.bucket.arnForObjects('*')];
    this.bucket.addToResourcePolicy(
      new PolicyStatement({
        ...everybody,
        sid: 'NobodyChangesADigest',
        actions: [
          's3:DeleteObject',
          's3:DeleteObjectVersion',
          's3:PutObjectRetention',
          's3:BypassGovernanceRetention',
        ],
        resources: objects,
      }),
    );
    this.bucket.addToResourcePolicy(
      new PolicyStatement({
        ...everybody,
        sid: 'NobodyWritesOverADigest',
        actions: ['s3:PutObject'],
        resources: objects,
        conditions: { Null: { 's3:if-none-match': 'true' } },
      }),
    );
  }

  /** Lets one function write digests and sign them. No other function may. */
  bindWrite(fn: WalkbackFunction): void {
    this.#bindList(fn);
    fn.allow(['s3:GetObject', 's3:PutObject'], [this.bucket.arnForObjects(PREFIX)]);
    fn.allow(['kms:Sign'], [this.key.keyArn]);
    this.key.addToResourcePolicy(
      new PolicyStatement({
        sid: 'OnlyTheAnchorSigns',
        effect: Effect.DENY,
        principals: [new AnyPrincipal()],
        actions: ['kms:Sign'],
        resources: ['*'],
        conditions: { ArnNotEquals: { 'aws:PrincipalArn': fn.role.roleArn } },
      }),
    );
    this.#justify(fn);
  }

  /** Lets a function read digests, and the public key with which they are checked. */
  bindRead(fn: WalkbackFunction): void {
    this.#bindList(fn);
    fn.allow(['s3:GetObject'], [this.bucket.arnForObjects(PREFIX)]);
    fn.allow(['kms:GetPublicKey'], [this.key.keyArn]);
    this.#justify(fn);
  }

  /** Runs each hour. A failed run is tried again, and the next run makes up for what was missed. */
  writeByClock(fn: WalkbackFunction, deadLetters: DeadLetterQueue): void {
    fn.fn.configureAsyncInvoke({ onFailure: new SqsDestination(deadLetters.queue), retryAttempts: 2 });
    new Rule(this, 'ByClock', {
      schedule: Schedule.rate(Duration.hours(1)),
      targets: [
        new LambdaFunction(fn.fn, { deadLetterQueue: deadLetters.queue, maxEventAge: Duration.hours(2) }),
      ],
    });
  }

  /**
   * Includes versions, because no other list shows a deleted name. Without the right to list, S3 answers 403
   * for a missing object.
   */
  #bindList(fn: WalkbackFunction): void {
    fn.fn.addEnvironment('WALKBACK_ANCHOR_BUCKET', this.bucket.bucketName);
    fn.fn.addEnvironment('WALKBACK_ANCHOR_KEY_ARN', this.key.keyArn);
    fn.allow(['s3:ListBucket', 's3:ListBucketVersions'], [this.bucket.bucketArn]);
  }

  #justify(fn: WalkbackFunction): void {
    NagSuppressions.addResourceSuppressions(
      fn.role,
      [
        {
          id: 'AwsSolutions-IAM5',
          reason: 'Digests are named by day and number; this prefix is all the bucket has.',
          appliesTo: [{ regex: '/^Resource::<.*Bucket.*\\.Arn>\\/anchors\\/\\*$/' }],
        },
      ],
      true,
    );
  }
}

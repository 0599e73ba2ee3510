import { RemovalPolicy } from 'aws-cdk-lib';
import { AttributeType, BillingMode, ProjectionType, StreamViewType, Table } from 'aws-cdk-lib/aws-dynamodb';
import { Effect, PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { StartingPosition } from 'aws-cdk-lib/aws-lambda';
import { DynamoEventSource, SqsDlq } from 'aws-cdk-lib/aws-lambda-event-sources';
import type { NodejsFunction } from 'aws-cdk-lib/aws-lambda-nodejs';
import type { Queue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';

const READ = ['dynamodb:GetItem', 'dynamodb:Query'];
const PUT = ['dynamodb:PutItem', 'dynamodb:BatchWriteItem'];

const text = (name: string) => ({ name, type: AttributeType.STRING });

/** Heads, pinned plans and catalog; and the ledger, which nobody may change (docs/sagas.md, Data). */
export class SagaTables extends Construct {
  readonly sagas: Table;
  readonly ledger: Table;

  constructor(scope: Construct, id: string, props: { deletionProtection: boolean }) {
    super(scope, id);
    const shared = {
      partitionKey: text('pk'),
      sortKey: text('sk'),
      billingMode: BillingMode.PAY_PER_REQUEST,
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
      deletionProtection: props.deletionProtection,
      removalPolicy: props.deletionProtection ? RemovalPolicy.RETAIN : RemovalPolicy.DESTROY,
    };
    this.sagas = new Table(this, 'Sagas', {
      ...shared,
      timeToLiveAttribute: 'expiresAt',
      stream: StreamViewType.NEW_AND_OLD_IMAGES,
    });
    this.sagas.addGlobalSecondaryIndex({
      indexName: 'gsi_status',
      partitionKey: text('status'),
      // Not the time of the last write: the index is written only when the status changes.
      sortKey: text('statusSince'),
      projectionType: ProjectionType.KEYS_ONLY,
    });
    this.ledger = new Table(this, 'Ledger', shared);
    this.ledger.addGlobalSecondaryIndex({
      indexName: 'gsi_external_ref',
      partitionKey: text('external_ref'),
      sortKey: text('at'),
      projectionType: ProjectionType.ALL,
    });
    this.ledger.addGlobalSecondaryIndex({
      indexName: 'gsi_day',
      partitionKey: text('day'),
      sortKey: text('at'),
      projectionType: ProjectionType.ALL,
    });
  }

  #name(fn: NodejsFunction): void {
    fn.addEnvironment('WALKBACK_SAGAS_TABLE', this.sagas.tableName);
    fn.addEnvironment('WALKBACK_LEDGER_TABLE', this.ledger.tableName);
  }

  bindRead(fn: NodejsFunction): void {
    this.#name(fn);
    this.sagas.grant(fn, ...READ);
    this.ledger.grant(fn, ...READ);
  }

  /** Puts into both; no statement anywhere lets anybody change or delete a ledger entry (S10). */
  bindWrite(fn: NodejsFunction): void {
    this.bindRead(fn);
    this.sagas.grant(fn, ...PUT);
    this.ledger.grant(fn, 'dynamodb:PutItem');
  }

  /** A tool reads and writes tombstones, and sees nothing else of the table (S4). */
  bindTombstones(fn: NodejsFunction): void {
    fn.addEnvironment('WALKBACK_SAGAS_TABLE', this.sagas.tableName);
    fn.addToRolePolicy(
      new PolicyStatement({
        effect: Effect.ALLOW,
        actions: ['dynamodb:GetItem', 'dynamodb:PutItem'],
        resources: [this.sagas.tableArn],
        conditions: { 'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': ['TOMBSTONE#*'] } },
      }),
    );
  }

  bindStream(fn: NodejsFunction, deadLetters: Queue): void {
    fn.addEventSource(
      new DynamoEventSource(this.sagas, {
        startingPosition: StartingPosition.TRIM_HORIZON,
        batchSize: 100,
        retryAttempts: 10,
        bisectBatchOnError: true,
        reportBatchItemFailures: true,
        onFailure: new SqsDlq(deadLetters),
      }),
    );
  }
}

import { RemovalPolicy } from 'aws-cdk-lib';
import { AttributeType, BillingMode, ProjectionType, StreamViewType, Table } from 'aws-cdk-lib/aws-dynamodb';
import { StartingPosition } from 'aws-cdk-lib/aws-lambda';
import { DynamoEventSource, SqsDlq } from 'aws-cdk-lib/aws-lambda-event-sources';
import type { NodejsFunction } from 'aws-cdk-lib/aws-lambda-nodejs';
import type { Queue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';

const READ = ['dynamodb:GetItem', 'dynamodb:BatchGetItem', 'dynamodb:Query'];
const WRITE = [
  'dynamodb:PutItem',
  'dynamodb:UpdateItem',
  'dynamodb:DeleteItem',
  'dynamodb:BatchWriteItem',
  'dynamodb:ConditionCheckItem',
];

const text = (name: string) => ({ name, type: AttributeType.STRING });

/** Sessions and everything on their timelines: keys, indexes and TTL as section "Data" of docs/design.md says. */
export class SessionsTable extends Construct {
  readonly table: Table;

  constructor(scope: Construct, id: string, props: { deletionProtection: boolean }) {
    super(scope, id);
    this.table = new Table(this, 'Table', {
      partitionKey: text('pk'),
      sortKey: text('sk'),
      billingMode: BillingMode.PAY_PER_REQUEST,
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
      timeToLiveAttribute: 'expiresAt',
      stream: StreamViewType.NEW_AND_OLD_IMAGES,
      deletionProtection: props.deletionProtection,
      removalPolicy: props.deletionProtection ? RemovalPolicy.RETAIN : RemovalPolicy.DESTROY,
    });
    this.table.addGlobalSecondaryIndex({
      indexName: 'gsi_checkpoint',
      partitionKey: text('checkpointId'),
      projectionType: ProjectionType.KEYS_ONLY,
    });
    this.table.addGlobalSecondaryIndex({
      indexName: 'gsi_message',
      partitionKey: text('messageId'),
      sortKey: text('sk'),
      projectionType: ProjectionType.KEYS_ONLY,
    });
  }

  bindRead(fn: NodejsFunction): void {
    fn.addEnvironment('WALKBACK_SESSIONS_TABLE', this.table.tableName);
    this.table.grant(fn, ...READ);
  }

  /** Reads, and finds items without knowing their key. */
  bindList(fn: NodejsFunction): void {
    this.bindRead(fn);
    this.table.grant(fn, 'dynamodb:Scan');
  }

  bindWrite(fn: NodejsFunction): void {
    fn.addEnvironment('WALKBACK_SESSIONS_TABLE', this.table.tableName);
    this.table.grant(fn, ...READ, ...WRITE);
  }

  /** Feeds every change of the table to `fn`, in order per item; a record it can not take ends in `deadLetters`. */
  bindStream(fn: NodejsFunction, deadLetters: Queue): void {
    fn.addEventSource(
      new DynamoEventSource(this.table, {
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

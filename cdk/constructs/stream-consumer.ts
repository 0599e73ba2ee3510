import { Duration } from 'aws-cdk-lib';
import type { Table } from 'aws-cdk-lib/aws-dynamodb';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import { FilterCriteria, FilterRule, StartingPosition } from 'aws-cdk-lib/aws-lambda';
import { DynamoEventSource, type DynamoEventSourceProps, SqsDlq } from 'aws-cdk-lib/aws-lambda-event-sources';
import { Queue, QueueEncryption } from 'aws-cdk-lib/aws-sqs';
import { NagSuppressions } from 'cdk-nag';
import { Construct } from 'constructs';
import type { FunctionRow } from '../../contract/function-row.ts';
import type { WalkbackFunction } from './walkback-function.ts';

/** Receives asynchronous work that could not be delivered. An alarm watches each queue. */
export class DeadLetterQueue extends Construct {
  readonly queue: Queue;

  constructor(scope: Construct, id: string, props: { encryptionKey?: IKey }) {
    super(scope, id);
    this.queue = new Queue(this, 'Queue', {
      encryption: props.encryptionKey === undefined ? QueueEncryption.SQS_MANAGED : QueueEncryption.KMS,
      encryptionMasterKey: props.encryptionKey,
      enforceSSL: true,
      retentionPeriod: Duration.days(14),
    });
    NagSuppressions.addResourceSuppressions(this.queue, [
      { id: 'AwsSolutions-SQS3', reason: 'It is itself the dead-letter queue; an alarm looks at its depth.' },
    ]);
  }
}

type Gathers = NonNullable<FunctionRow['grants']['gathers']>;

const GATHERED = {
  /** The newest heads of sagas: they change often and are needed only now and then. */
  heads: {
    batchSize: 1_000,
    filter: {
      eventName: FilterRule.or('INSERT', 'MODIFY'),
      dynamodb: { Keys: { sk: { S: FilterRule.isEqual('HEAD') } } },
    },
  },
  /** New checkpoints. */
  checkpoints: {
    batchSize: 100,
    filter: {
      eventName: FilterRule.isEqual('INSERT'),
      dynamodb: { Keys: { sk: { S: FilterRule.beginsWith('CP#') } } },
    },
  },
};

const gathered = ({ seconds, items }: Gathers): Partial<DynamoEventSourceProps> => {
  const { batchSize, filter } = GATHERED[items];
  return {
    batchSize,
    maxBatchingWindow: Duration.seconds(seconds),
    filters: [FilterCriteria.filter(filter)],
  };
};

/**
 * Feeds every change of a table to a function, in order for each item. A record that the function does not
 * accept goes to `deadLetters`. `gathers`: see `Grants`.
 */
export const bindStream = (
  table: Table,
  consumer: WalkbackFunction,
  deadLetters: DeadLetterQueue,
  gathers?: Gathers,
): void => {
  consumer.fn.addEventSource(
    new DynamoEventSource(table, {
      startingPosition: StartingPosition.TRIM_HORIZON,
      batchSize: 100,
      ...(gathers !== undefined && gathered(gathers)),
      retryAttempts: 10,
      bisectBatchOnError: true,
      reportBatchItemFailures: true,
      onFailure: new SqsDlq(deadLetters.queue),
    }),
  );
};

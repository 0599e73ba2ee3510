import { Duration } from 'aws-cdk-lib';
import { LogGroup, RetentionDays } from 'aws-cdk-lib/aws-logs';
import type { ITopic } from 'aws-cdk-lib/aws-sns';
import type { IQueue } from 'aws-cdk-lib/aws-sqs';
import { DefinitionBody, LogLevel, StateMachine, StateMachineType } from 'aws-cdk-lib/aws-stepfunctions';
import { Construct } from 'constructs';

const RETRY = {
  ErrorEquals: ['States.ALL'],
  IntervalSeconds: 2,
  BackoffRate: 2,
  MaxAttempts: 6,
  MaxDelaySeconds: 60,
  JitterStrategy: 'FULL',
};

/** Attributes by which a subscription can filter, and recognise what it has seen. Unknown values are left out. */
const ATTRIBUTES = `{% (
  $known := {
    "eventId": $states.input.eventId,
    "sagaId": $states.input.sagaId,
    "kind": $states.input.notice.kind,
    "tool": $states.input.notice.tool,
    "amount": $states.input.notice.amount,
    "currency": $states.input.notice.currency
  };
  $merge($each($known, function($value, $name) { { $name: { "DataType": "String", "StringValue": $value } } }))
) %}`;

const tell = (isFifo: boolean, isKept: boolean): object => ({
  Type: 'Task',
  Resource: 'arn:${Partition}:states:::sns:publish',
  Arguments: {
    TopicArn: '${Topic}',
    Subject: '{% $states.input.notice.subject %}',
    Message: '{% $states.input.notice.text %}',
    MessageAttributes: ATTRIBUTES,
    ...(isFifo && {
      MessageGroupId: '{% $states.input.sagaId %}',
      MessageDeduplicationId: '{% $states.input.eventId %}',
    }),
  },
  Retry: [RETRY],
  ...(isKept && { Catch: [{ ErrorEquals: ['States.ALL'], Output: '{% $states.input %}', Next: 'Keep' }] }),
  End: true,
});

const KEEP = {
  Type: 'Task',
  Resource: 'arn:${Partition}:states:::sqs:sendMessage',
  Arguments: { QueueUrl: '${Queue}', MessageBody: '{% $string($states.input) %}' },
  Retry: [RETRY],
  End: true,
};

export interface NoticeTopicProps {
  topic: ITopic;
  deadLetterQueue?: IQueue;
}

/**
 * Publishes notices with a subject and attributes, which a rule cannot add to a message. Its input is the
 * detail of the event.
 */
export class NoticeTopic extends Construct {
  readonly machine: StateMachine;

  constructor(scope: Construct, id: string, { topic, deadLetterQueue }: NoticeTopicProps) {
    super(scope, id);
    const isKept = deadLetterQueue !== undefined;
    this.machine = new StateMachine(this, 'Machine', {
      comment: 'Walkback: people are needed',
      stateMachineType: StateMachineType.EXPRESS,
      timeout: Duration.minutes(5),
      logs: {
        destination: new LogGroup(this, 'Log', { retention: RetentionDays.ONE_MONTH }),
        level: LogLevel.ERROR,
        // A notice contains amounts and references.
        includeExecutionData: false,
      },
      definitionBody: DefinitionBody.fromString(
        JSON.stringify({
          QueryLanguage: 'JSONata',
          StartAt: 'Tell',
          States: { Tell: tell(topic.fifo, isKept), ...(isKept && { Keep: KEEP }) },
        }),
      ),
      definitionSubstitutions: {
        Partition: topic.stack.partition,
        Topic: topic.topicArn,
        ...(isKept && { Queue: deadLetterQueue.queueUrl }),
      },
    });
    topic.grantPublish(this.machine);
    topic.masterKey?.grant(this.machine, 'kms:Decrypt', 'kms:GenerateDataKey');
    deadLetterQueue?.grantSendMessages(this.machine);
  }
}

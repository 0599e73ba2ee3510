/** The metrics of alarms and the dashboard. */
import { Duration } from 'aws-cdk-lib';
import type { HttpApi } from 'aws-cdk-lib/aws-apigatewayv2';
import { Metric } from 'aws-cdk-lib/aws-cloudwatch';
import type { ITopic } from 'aws-cdk-lib/aws-sns';
import type { StateMachine } from 'aws-cdk-lib/aws-stepfunctions';
import type { DeadLetterQueue } from './stream-consumer.ts';
import type { WalkbackFunction } from './walkback-function.ts';

export interface MonitoringProps {
  namePrefix: string;
  machine: StateMachine;
  functions: readonly WalkbackFunction[];
  /** The one of these functions that anchors the ledger. */
  anchor: WalkbackFunction;
  deadLetters: Readonly<Record<string, DeadLetterQueue>>;
  /** Absent where nobody can sign in. */
  httpApi?: HttpApi;
  topic: ITopic;
  /** Alarms that mean that people must act also open OpsItems. */
  opsItems: boolean;
  runbookUrl: string;
  unfinishedSagaAlarm: Duration;
}

/** Our own metrics, by the function that publishes them (functions/handler.ts). */
export const ownMetric = (
  namePrefix: string,
  functionId: string,
  metricName: string,
  statistic: 'Sum' | 'Maximum' | 'Average',
): Metric =>
  new Metric({
    namespace: namePrefix,
    metricName,
    statistic,
    period: Duration.minutes(1),
    dimensionsMap: { service: 'walkback', function: functionId },
  });

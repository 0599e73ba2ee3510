import { Aws, Duration } from 'aws-cdk-lib';
import { Dashboard, GraphWidget, type IMetric, SingleValueWidget } from 'aws-cdk-lib/aws-cloudwatch';
import type { Construct } from 'constructs';
import { type MonitoringProps, ownMetric } from './metrics.ts';

const graph = (title: string, left: IMetric[]): GraphWidget => new GraphWidget({ title, left, width: 12 });

/** Sagas above, checkpoints below. */
export const createDashboard = (scope: Construct, props: MonitoringProps): Dashboard => {
  const { namePrefix, machine, functions } = props;
  const gauge = (name: string) => ownMetric(namePrefix, 'measure-sagas', name, 'Maximum');
  const told = (publisher: string, names: string[]) =>
    names.map((name) => ownMetric(namePrefix, publisher, name, 'Sum'));
  const durations = (names: string[]) =>
    functions
      .filter(({ functionId }) => names.includes(functionId))
      .map(({ fn, functionId }) => fn.metricDuration({ statistic: 'p95', label: functionId }));

  return new Dashboard(scope, 'Dashboard', {
    // Dashboards belong to the account, not to a region: the same name in two regions would be one dashboard.
    dashboardName: `${namePrefix}-${Aws.REGION}`,
    defaultInterval: Duration.hours(24),
    widgets: [
      [
        new SingleValueWidget({
          title: 'Sagas now',
          width: 24,
          metrics: [
            gauge('UnfinishedSagas'),
            gauge('AwaitingSagas'),
            gauge('CompensationFailedSagas'),
            gauge('OldestUnfinishedSeconds'),
          ],
        }),
      ],
      [
        graph(
          'Sagas',
          told('publish-saga-events', [
            'saga.started',
            'saga.completed',
            'saga.compensated',
            'saga.compensation_delayed',
            'saga.compensation_failed',
          ]),
        ),
        graph('Time to reconcile what could not be undone, seconds', [
          ownMetric(namePrefix, 'publish-saga-events', 'saga.secondsToReconcile', 'Average'),
          ownMetric(namePrefix, 'publish-saga-events', 'saga.secondsToReconcile', 'Maximum'),
        ]),
        graph('Executions', [
          machine.metricStarted(),
          machine.metricFailed(),
          machine.metricTimedOut(),
          machine.metricAborted(),
        ]),
      ],
      [
        graph(
          'Checkpoints',
          told('publish-session-events', [
            'checkpoint.created',
            'checkpoint.incomplete',
            'rollback.completed',
            'rollback.failed',
            'session.rehydrated',
          ]),
        ),
        graph('Time of captures and restores, p95', durations(['checkpoint', 'rollback', 'rehydrate'])),
      ],
      [
        graph(
          'Errors and throttles',
          functions.flatMap(({ fn, functionId }) => [
            fn.metricErrors({ label: `${functionId} errors` }),
            fn.metricThrottles({ label: `${functionId} throttles` }),
          ]),
        ),
        graph(
          'Dead letters',
          Object.entries(props.deadLetters).map(([label, { queue }]) =>
            queue.metricApproximateNumberOfMessagesVisible({ label }),
          ),
        ),
      ],
    ],
  });
};

import { Duration } from 'aws-cdk-lib';
import {
  Alarm,
  ComparisonOperator,
  type IMetric,
  MathExpression,
  type Metric,
  TreatMissingData,
} from 'aws-cdk-lib/aws-cloudwatch';
import { OpsItemCategory, OpsItemSeverity, SnsAction, SsmAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import { Construct } from 'constructs';
import { createDashboard } from './dashboard.ts';
import { type MonitoringProps, ownMetric } from './metrics.ts';

interface AlarmOptions {
  metric: IMetric;
  /** Fires at this value or above, or (`missing`) only when there is no data. Default 1. */
  threshold?: number | 'missing';
  what: string;
  /** Heading of docs/operations.md, as an anchor. */
  runbook: string;
  /**
   * People must act, and nothing else tells them: it also opens an OpsItem of this severity, which does not
   * need the topic.
   */
  opens?: OpsItemSeverity;
  /** Number of consecutive periods of the metric. Default 1. */
  periods?: number;
  /** Fires for any minute within this time, for a metric that arrives late. */
  lookBackMinutes?: number;
}

/** A threshold that is never reached, so only missing data fires the alarm. */
const NEVER = 1_000_000;

/** Time until the metrics of a finished invocation can be read. */
const DELIVERY_MINUTES = 5;

/**
 * Lambda dates an invocation's metrics at its start, but reports them at its end, when that minute may be
 * long past.
 */
const lookBack = (timeout: Duration | undefined): number =>
  Math.ceil((timeout?.toSeconds() ?? 0) / 60) + DELIVERY_MINUTES;

/** Alarms, each with a runbook that says what to do, and a dashboard. */
export class Monitoring extends Construct {
  readonly #props: MonitoringProps;

  constructor(scope: Construct, id: string, props: MonitoringProps) {
    super(scope, id);
    this.#props = props;
    this.#watchSagas();
    this.#watchAnchors();
    this.#watchExecutions();
    this.#watchFunctions();
    this.#watchDeliveries();
    this.#watchApi();
    createDashboard(this, props);
  }

  #alarm(id: string, options: AlarmOptions): void {
    const { namePrefix, runbookUrl, topic, opsItems } = this.#props;
    const { threshold = 1, periods = 1 } = options;
    const isMissing = threshold === 'missing';
    const alarm = new Alarm(this, id, {
      alarmName: `${namePrefix}-${id}`,
      alarmDescription: `${options.what} Runbook: ${runbookUrl}#${options.runbook}`,
      metric: options.metric,
      threshold: isMissing ? NEVER : threshold,
      comparisonOperator: ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
      evaluationPeriods: options.lookBackMinutes ?? periods,
      datapointsToAlarm: periods,
      treatMissingData: isMissing ? TreatMissingData.BREACHING : TreatMissingData.NOT_BREACHING,
    });
    alarm.addAlarmAction(new SnsAction(topic));
    if (opsItems && options.opens !== undefined) {
      alarm.addAlarmAction(new SsmAction(options.opens, OpsItemCategory.RECOVERY));
    }
    alarm.addOkAction(new SnsAction(topic));
  }

  #gauge(name: string): Metric {
    return ownMetric(this.#props.namePrefix, 'measure-sagas', name, 'Maximum');
  }

  #watchSagas(): void {
    this.#alarm('compensation-failed', {
      metric: this.#gauge('CompensationFailedSagas'),
      what: 'Sagas could not be undone completely, and no operator has worked them yet.',
      runbook: 'compensation-failed',
      opens: OpsItemSeverity.HIGH,
    });
    this.#alarm('alert-undelivered', {
      metric: ownMetric(this.#props.namePrefix, 'sweep', 'UnalertedSagas', 'Maximum'),
      what: 'An operator alert could not be delivered: the alert topic has refused alerts of sagas that could not be undone. This alarm goes to the same topic, and opens an OpsItem.',
      runbook: 'alert-undelivered',
      opens: OpsItemSeverity.CRITICAL,
      // When many sagas have failed, the sweeper looks at each of them at least this often.
      lookBackMinutes: 15,
    });
    this.#alarm('compensation-delayed', {
      metric: ownMetric(this.#props.namePrefix, 'publish-saga-events', 'saga.compensation_delayed', 'Sum'),
      what: 'COMPENSATION_DELAYED: a compensator does not work for longer than its tool allows for; it is still being tried.',
      runbook: 'compensation-delayed',
    });
    this.#alarm('tool-unavailable', {
      metric: ownMetric(this.#props.namePrefix, 'advance-saga', 'tool.unavailable', 'Sum'),
      what: 'Sagas call a tool that is not there: no function or endpoint, or none that serves the version that they have pinned.',
      runbook: 'tool-unavailable',
      // One call alone may have met a deployment.
      periods: 2,
      lookBackMinutes: 5,
    });
    this.#alarm('saga-unfinished', {
      metric: this.#gauge('OldestUnfinishedSeconds'),
      threshold: this.#props.unfinishedSagaAlarm.toSeconds(),
      what: 'A saga is neither finished nor waiting for a person for too long.',
      runbook: 'saga-unfinished',
      opens: OpsItemSeverity.HIGH,
    });
    this.#alarm('await-near-timeout', {
      metric: this.#gauge('AwaitsNearTimeout'),
      what: 'Approvals run out soon, and their sagas will be undone.',
      runbook: 'await-near-timeout',
      opens: OpsItemSeverity.MEDIUM,
    });
    this.#alarm('saga-measurement-missing', {
      metric: this.#gauge('OldestUnfinishedSeconds').with({ statistic: 'SampleCount' }),
      threshold: 'missing',
      what: 'Nobody measures sagas, so no other alarm about them can fire.',
      runbook: 'saga-measurement-missing',
      opens: OpsItemSeverity.HIGH,
      periods: 5,
    });
  }

  #watchAnchors(): void {
    this.#alarm('ledger-anchor-missing', {
      metric: this.#props.anchor.fn.metricInvocations({ period: Duration.hours(1), statistic: 'Sum' }),
      threshold: 'missing',
      what: 'Nobody anchored the ledger for three hours, so what is changed in it since then may not be found.',
      runbook: 'ledger-anchor-missing',
      opens: OpsItemSeverity.HIGH,
      periods: 3,
    });
  }

  #watchExecutions(): void {
    const { machine } = this.#props;
    const period = { period: Duration.minutes(1), statistic: 'Sum' };
    const ends = {
      failed: machine.metricFailed(period),
      'timed-out': machine.metricTimedOut(period),
      aborted: machine.metricAborted(period),
    };
    for (const [end, metric] of Object.entries(ends)) {
      this.#alarm(`execution-${end}`, {
        metric,
        what: `Executions of sagas ended ${end}.`,
        runbook: 'execution-ended-badly',
      });
    }
  }

  #watchFunctions(): void {
    for (const { fn, functionId } of this.#props.functions) {
      const period = { period: Duration.minutes(1) };
      this.#alarm(`errors-${functionId}`, {
        // For Lambda a refused input is an error; for us it is not.
        metric: new MathExpression({
          expression: 'errors - FILL(refused, 0)',
          usingMetrics: {
            errors: fn.metricErrors(period),
            refused: ownMetric(this.#props.namePrefix, functionId, 'Refused', 'Sum'),
          },
          ...period,
        }),
        lookBackMinutes: lookBack(fn.timeout),
        what: `The function ${functionId} failed: crashed, ran out of time, or could not reach a service.`,
        runbook: 'function-errors',
      });
      this.#alarm(`throttles-${functionId}`, {
        metric: fn.metricThrottles(period),
        what: `Calls of the function ${functionId} were throttled.`,
        runbook: 'function-throttles',
      });
    }
  }

  #watchDeliveries(): void {
    for (const [name, { queue }] of Object.entries(this.#props.deadLetters)) {
      this.#alarm(`dead-letters-${name}`, {
        metric: queue.metricApproximateNumberOfMessagesVisible({
          period: Duration.minutes(1),
          statistic: 'Maximum',
        }),
        what: 'Something asynchronous could not be delivered.',
        runbook: 'dead-letters',
      });
    }
    this.#alarm('checkpoint-incomplete', {
      metric: ownMetric(this.#props.namePrefix, 'publish-session-events', 'checkpoint.incomplete', 'Sum'),
      what: 'A checkpoint misses something of a repository; it names what and why.',
      runbook: 'checkpoint-incomplete',
    });
  }
  #watchApi(): void {
    const { httpApi } = this.#props;
    if (httpApi === undefined) return;
    this.#alarm('api-server-errors', {
      metric: httpApi.metricServerError({ period: Duration.minutes(1), statistic: 'Sum' }),
      threshold: 5,
      what: 'The API or the console answered people with errors that are not theirs.',
      runbook: 'api-errors',
    });
  }
}

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Aws, Duration, Fn, RemovalPolicy } from 'aws-cdk-lib';
import { Rule, Schedule } from 'aws-cdk-lib/aws-events';
import { LambdaFunction } from 'aws-cdk-lib/aws-events-targets';
import { PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { SqsDestination } from 'aws-cdk-lib/aws-lambda-destinations';
import { LogGroup } from 'aws-cdk-lib/aws-logs';
import type { ITopic } from 'aws-cdk-lib/aws-sns';
import {
  CustomerManagedEncryptionConfiguration,
  DefinitionBody,
  LogLevel,
  StateMachine,
} from 'aws-cdk-lib/aws-stepfunctions';
import { NagSuppressions } from 'cdk-nag';
import { Construct } from 'constructs';
import type { EngineAction } from '../../contract/function-row.ts';
import type { DeadLetterQueue } from './stream-consumer.ts';
import { arnOf, type FunctionDefaults, type WalkbackFunction } from './walkback-function.ts';

/** In the package it lies beside the module. */
const DEFINITION = join(
  import.meta.dirname,
  import.meta.url.endsWith('.ts') ? '../../statemachines/saga.asl.json' : 'saga.asl.json',
);

export const anyVersionOfOneFunction = {
  id: 'AwsSolutions-IAM5',
  reason: 'Versions and aliases of one named function: a manifest may pin one.',
  appliesTo: [{ regex: '/^Resource::(arn:.*:function:[A-Za-z0-9_-]+|<.*\\.Arn>):\\*$/' }],
};

export interface SagaMachineProps extends FunctionDefaults {
  advance: WalkbackFunction;
  announceAwait: WalkbackFunction;
  sweep: WalkbackFunction;
  measure: WalkbackFunction;
  alerts: ITopic;
  deadLetters: DeadLetterQueue;
}

const machineName = (namePrefix: string): string => `${namePrefix}-saga`;

/** The last part of the stack's ARN, which is new with every creation of the stack. */
const stackUuid = (): string => Fn.select(2, Fn.split('/', Aws.STACK_ID));

/** The one machine that drives every saga, and the functions that look after executions that died. */
export class SagaMachine extends Construct {
  readonly machine: StateMachine;
  readonly #role: Role;
  readonly #deadLetters: DeadLetterQueue;

  constructor(scope: Construct, id: string, props: SagaMachineProps) {
    super(scope, id);
    this.#deadLetters = props.deadLetters;
    this.#role = new Role(this, 'Role', { assumedBy: new ServicePrincipal('states.amazonaws.com') });
    this.machine = new StateMachine(this, 'Machine', {
      stateMachineName: machineName(props.namePrefix),
      role: this.#role,
      definitionBody: DefinitionBody.fromString(readFileSync(DEFINITION, 'utf8')),
      definitionSubstitutions: {
        AdvanceSagaFunction: props.advance.fn.functionArn,
        AnnounceAwaitFunction: props.announceAwait.fn.functionArn,
        AlertTopic: props.alerts.topicArn,
        // Partition of the integrations' ARNs, which is aws-cn or aws-us-gov in those partitions.
        Partition: Aws.PARTITION,
      },
      tracingEnabled: props.tracing,
      logs: {
        // Payloads contain arguments of tools, and those are customers' data.
        includeExecutionData: false,
        level: LogLevel.ALL,
        destination: new LogGroup(this, 'Log', {
          // Step Functions writes to groups with this prefix without a resource policy that grows with each
          // group. The name contains the stack's id, so that a group that was kept does not block the next
          // deployment.
          logGroupName: `/aws/vendedlogs/states/${machineName(props.namePrefix)}-${stackUuid()}`,
          retention: props.logRetention,
          removalPolicy: props.removalPolicy,
          encryptionKey: props.encryptionKey,
        }),
      },
      // Histories of executions hold arguments and results of tools for 90 days.
      encryptionConfiguration:
        props.encryptionKey && new CustomerManagedEncryptionConfiguration(props.encryptionKey),
      // The machine stores nothing: the ledger decides. If it were kept, its name would block the next
      // deployment.
      removalPolicy: RemovalPolicy.DESTROY,
    });
    if (!props.tracing) {
      NagSuppressions.addResourceSuppressions(this.machine, [
        { id: 'AwsSolutions-SF2', reason: 'Whoever deploys it turned tracing off (prop tracing).' },
      ]);
    }
    this.#allow(
      ['lambda:InvokeFunction'],
      [props.advance.fn.functionArn, props.announceAwait.fn.functionArn],
    );
    this.#allow(['sns:Publish'], [props.alerts.topicArn]);
    const { masterKey } = props.alerts;
    if (masterKey !== undefined) this.#allow(['kms:Decrypt', 'kms:GenerateDataKey'], [masterKey.keyArn]);
    this.#sweep(props);
    NagSuppressions.addResourceSuppressions(
      this.#role,
      [
        {
          id: 'AwsSolutions-IAM5',
          reason: 'Delivery of logs to CloudWatch and X-Ray have no resource level.',
          appliesTo: ['Resource::*'],
        },
      ],
      true,
    );
  }

  /** Lets sagas call a tool, including a pinned version or alias of it. */
  bindTool(functionArn: string): void {
    this.#allow(['lambda:InvokeFunction'], [functionArn, `${functionArn}:*`]);
    NagSuppressions.addResourceSuppressions(this.#role, [anyVersionOfOneFunction], true);
  }

  #allow(actions: string[], resources: string[]): void {
    this.#role.addToPolicy(new PolicyStatement({ actions, resources }));
  }

  /** Sweeps by the clock, and as soon as an execution has died (S11). */
  #sweep({ sweep, measure }: SagaMachineProps): void {
    const target = (fn: WalkbackFunction) =>
      new LambdaFunction(fn.fn, { deadLetterQueue: this.#deadLetters.queue, maxEventAge: Duration.hours(2) });
    for (const fn of [sweep, measure]) {
      fn.fn.configureAsyncInvoke({
        onFailure: new SqsDestination(this.#deadLetters.queue),
        retryAttempts: 2,
      });
    }
    new Rule(this, 'SweepByClock', {
      schedule: Schedule.rate(Duration.minutes(1)),
      targets: [target(sweep)],
    });
    new Rule(this, 'MeasureByClock', {
      schedule: Schedule.rate(Duration.minutes(1)),
      targets: [target(measure)],
    });
    new Rule(this, 'SweepDead', {
      eventPattern: {
        source: ['aws.states'],
        detailType: ['Step Functions Execution Status Change'],
        detail: {
          stateMachineArn: [this.machine.stateMachineArn],
          status: ['FAILED', 'TIMED_OUT', 'ABORTED'],
        },
      },
      targets: [target(sweep)],
    });
  }
}

/** By name, because the machine itself refers to the functions. */
export const bindEngine = (
  fn: WalkbackFunction,
  namePrefix: string,
  actions: readonly EngineAction[],
): void => {
  const machine = arnOf('states', `stateMachine:${machineName(namePrefix)}`);
  fn.fn.addEnvironment('WALKBACK_STATE_MACHINE_ARN', machine);
  const onMachine = actions.filter((action) => action !== 'DescribeExecution');
  if (onMachine.length > 0) {
    fn.allow(
      onMachine.map((action) => `states:${action}`),
      [machine],
    );
  }
  if (!actions.includes('DescribeExecution')) return;
  fn.allow(['states:DescribeExecution'], [arnOf('states', `execution:${machineName(namePrefix)}:*`)]);
  NagSuppressions.addResourceSuppressions(
    fn.role,
    [
      {
        id: 'AwsSolutions-IAM5',
        reason: 'Executions of this one machine: their names are made when sagas start.',
        appliesTo: [{ regex: '/^Resource::arn:.*:execution:[A-Za-z0-9_-]+:\\*$/' }],
      },
    ],
    true,
  );
};

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Duration, RemovalPolicy, Stack } from 'aws-cdk-lib';
import { Rule, Schedule } from 'aws-cdk-lib/aws-events';
import { LambdaFunction } from 'aws-cdk-lib/aws-events-targets';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { NodejsFunction } from 'aws-cdk-lib/aws-lambda-nodejs';
import { LogGroup, RetentionDays } from 'aws-cdk-lib/aws-logs';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { DefinitionBody, LogLevel, StateMachine } from 'aws-cdk-lib/aws-stepfunctions';
import { Construct } from 'constructs';

const NAME = 'walkback-saga';
const DEFINITION = join(import.meta.dirname, '../../statemachines/saga.asl.json');

/** Tools are functions of this name, whoever deploys them. */
const TOOL_FUNCTIONS = 'walkback-tool-*';

export interface SagaMachineProps {
  advance: NodejsFunction;
  announceAwait: NodejsFunction;
  sweep: NodejsFunction;
  httpTool: NodejsFunction;
}

/** The one machine that drives every saga, who is told when a person must look, and who looks after dead executions. */
export class SagaMachine extends Construct {
  readonly machine: StateMachine;
  readonly alerts: Topic;
  readonly rules: readonly Rule[];

  constructor(scope: Construct, id: string, props: SagaMachineProps) {
    super(scope, id);
    this.alerts = new Topic(this, 'Alerts', {
      displayName: 'Walkback: a compensation failed',
      enforceSSL: true,
    });
    this.machine = new StateMachine(this, 'Machine', {
      stateMachineName: NAME,
      definitionBody: DefinitionBody.fromString(readFileSync(DEFINITION, 'utf8')),
      definitionSubstitutions: {
        AdvanceSagaFunction: props.advance.functionArn,
        AnnounceAwaitFunction: props.announceAwait.functionArn,
        AlertTopic: this.alerts.topicArn,
      },
      tracingEnabled: true,
      logs: {
        // Payloads hold arguments of tools, and those are customers' data.
        includeExecutionData: false,
        level: LogLevel.ERROR,
        destination: new LogGroup(this, 'Log', {
          retention: RetentionDays.ONE_MONTH,
          removalPolicy: RemovalPolicy.DESTROY,
        }),
      },
    });
    props.advance.grantInvoke(this.machine);
    props.announceAwait.grantInvoke(this.machine);
    props.httpTool.grantInvoke(this.machine);
    this.alerts.grantPublish(this.machine);
    const { partition, region, account } = Stack.of(this);
    const tools = `arn:${partition}:lambda:${region}:${account}:function:${TOOL_FUNCTIONS}`;
    this.machine.addToRolePolicy(
      new PolicyStatement({ actions: ['lambda:InvokeFunction'], resources: [tools] }),
    );
    this.rules = this.#sweep(props.sweep);
  }

  /** By the clock, and as soon as an execution died (S11). */
  #sweep(fn: NodejsFunction): Rule[] {
    const targets = [new LambdaFunction(fn)];
    return [
      new Rule(this, 'SweepByClock', { schedule: Schedule.rate(Duration.minutes(1)), targets }),
      new Rule(this, 'SweepDead', {
        eventPattern: {
          source: ['aws.states'],
          detailType: ['Step Functions Execution Status Change'],
          detail: {
            stateMachineArn: [this.machine.stateMachineArn],
            status: ['FAILED', 'TIMED_OUT', 'ABORTED'],
          },
        },
        targets,
      }),
    ];
  }
}

/** Starts, looks at and wakes executions. By name, because the machine itself names the functions. */
export const bindEngine = (scope: Construct, fn: NodejsFunction): void => {
  const stack = Stack.of(scope);
  const arn = (resource: string, name: string) =>
    `arn:${stack.partition}:states:${stack.region}:${stack.account}:${resource}:${name}`;
  fn.addEnvironment('WALKBACK_STATE_MACHINE_ARN', arn('stateMachine', NAME));
  fn.addToRolePolicy(
    new PolicyStatement({
      actions: ['states:StartExecution', 'states:SendTaskSuccess'],
      resources: [arn('stateMachine', NAME)],
    }),
  );
  fn.addToRolePolicy(
    new PolicyStatement({
      actions: ['states:DescribeExecution'],
      resources: [arn('execution', `${NAME}:*`)],
    }),
  );
};

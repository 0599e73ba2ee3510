/**
 * Step Functions behind `SagaEngine`. Executions are named by saga and generation, so a repeated start has
 * no effect.
 */
import {
  DescribeExecutionCommand,
  SendTaskSuccessCommand,
  SFNClient,
  StartExecutionCommand,
} from '@aws-sdk/client-sfn';
import { executionName } from '../../../core/saga/model/keys.ts';
import type { SagaEngine } from '../../../core/saga/ports.ts';
import { CLIENT_DEFAULTS } from '../client-defaults.ts';
import { calling, isNamed } from '../errors.ts';

const SERVICE = 'Step Functions';

/** Errors for a token on which no execution waits any more, or never did. */
const NOBODY_WAITS = ['TaskTimedOut', 'TaskDoesNotExist', 'InvalidToken'];

export const createSagaEngine = (options: { stateMachineArn: string; client?: SFNClient }): SagaEngine => {
  const client = options.client ?? new SFNClient(CLIENT_DEFAULTS);
  const { stateMachineArn } = options;
  const arnOf = (sagaId: string, generation: number): string =>
    `${stateMachineArn.replace(':stateMachine:', ':execution:')}:${executionName(sagaId, generation)}`;

  return {
    start: async (sagaId, generation) => {
      const command = new StartExecutionCommand({
        stateMachineArn,
        name: executionName(sagaId, generation),
        // The input has nothing else, so that every start of a generation is the same request to the service.
        input: JSON.stringify({ sagaId, generation }),
      });
      return calling(SERVICE, async () => {
        try {
          await client.send(command);
          return 'started' as const;
        } catch (error) {
          if (isNamed(error, 'ExecutionAlreadyExists')) return 'exists' as const;
          throw error;
        }
      });
    },
    look: (sagaId, generation) =>
      calling(SERVICE, async () => {
        try {
          const { status } = await client.send(
            new DescribeExecutionCommand({ executionArn: arnOf(sagaId, generation) }),
          );
          return status === 'RUNNING' || status === 'PENDING_REDRIVE'
            ? ('running' as const)
            : ('ended' as const);
        } catch (error) {
          if (isNamed(error, 'ExecutionDoesNotExist')) return 'missing' as const;
          throw error;
        }
      }),
    wake: (token) =>
      calling(SERVICE, async () => {
        try {
          await client.send(new SendTaskSuccessCommand({ taskToken: token, output: '{}' }));
          return true;
        } catch (error) {
          if (isNamed(error, ...NOBODY_WAITS)) return false;
          throw error;
        }
      }),
  };
};

/** Where a person looks at an execution. */
export const executionLink = (executionArn: string): string => {
  const region = executionArn.split(':')[3] ?? 'us-east-1';
  return `https://${region}.console.aws.amazon.com/states/home?region=${region}#/v2/executions/details/${executionArn}`;
};

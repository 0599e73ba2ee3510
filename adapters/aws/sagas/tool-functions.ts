/** Lambda behind `ToolFunctions`: reads only the timeouts of tools' functions. */
import { GetFunctionConfigurationCommand, LambdaClient } from '@aws-sdk/client-lambda';
import type { ServingFunction, ToolFunctions } from '../../../core/saga/ports.ts';
import { CLIENT_DEFAULTS } from '../client-defaults.ts';
import { calling, isNamed } from '../errors.ts';

export const createToolFunctions = (
  client: LambdaClient = new LambdaClient(CLIENT_DEFAULTS),
): ToolFunctions => ({
  look: (functionName) =>
    calling('Lambda', async (): Promise<ServingFunction> => {
      try {
        const command = new GetFunctionConfigurationCommand({ FunctionName: functionName });
        const { Timeout } = await client.send(command);
        // The service always answers a timeout; 3 s is Lambda's default.
        return { state: 'there', timeoutSeconds: Timeout ?? 3 };
      } catch (error) {
        if (isNamed(error, 'ResourceNotFoundException')) return { state: 'missing' };
        if (isNamed(error, 'AccessDeniedException')) return { state: 'hidden' };
        throw error;
      }
    }),
});

/**
 * Lambda behind `ToolInvoker`: one Invoke, never repeated, because a repeated one may act twice. Its errors get
 * the names that Step Functions gives them, so that both are read alike (core/saga/tools/engine-errors.ts).
 */
import { InvokeCommand, LambdaClient } from '@aws-sdk/client-lambda';
import * as z from 'zod';
import type { Invoked, ToolInvoker } from '../../../core/saga/ports.ts';
import { CLIENT_DEFAULTS } from '../client-defaults.ts';
import { httpStatus } from '../errors.ts';

const functionError = z.object({ errorType: z.string().optional(), errorMessage: z.string().optional() });

/** A tool must not give its error the name of a service error, because those may mean that nothing ran. */
const ownName = (name: string | undefined): string =>
  name === undefined || name.startsWith('Lambda.') ? 'Lambda.Unknown' : name;

const parse = (payload: Uint8Array | undefined): unknown => {
  const text = payload === undefined ? '' : new TextDecoder().decode(payload);
  try {
    return text === '' ? null : JSON.parse(text);
  } catch {
    return undefined;
  }
};

const failureOf = (error: unknown, isOver: boolean): Invoked => {
  if (isOver) return { Error: 'States.Timeout', Cause: 'no answer came in time' };
  const { name, message } = error instanceof Error ? error : new Error(String(error));
  // Without a status there was no answer, and the function may have run.
  const answered = httpStatus(error) !== undefined;
  return { Error: answered ? `Lambda.${name}` : 'Lambda.SdkClientException', Cause: message };
};

export const createToolInvoker = (
  client: LambdaClient = new LambdaClient({
    ...CLIENT_DEFAULTS,
    maxAttempts: 1,
    // Each call is ended by its own signal.
    requestHandler: { connectionTimeout: 3_000 },
  }),
): ToolInvoker => ({
  invoke: async (functionName, payload, timeoutMs) => {
    const over = AbortSignal.timeout(Math.max(0, timeoutMs));
    try {
      const command = new InvokeCommand({ FunctionName: functionName, Payload: JSON.stringify(payload) });
      const { FunctionError, Payload } = await client.send(command, { abortSignal: over });
      const answer = parse(Payload);
      if (FunctionError === undefined) return { Payload: answer };
      const read = functionError.safeParse(answer);
      const { errorType, errorMessage = '' } = read.success ? read.data : {};
      return { Error: ownName(errorType), Cause: errorMessage };
    } catch (error) {
      return failureOf(error, over.aborted);
    }
  },
});

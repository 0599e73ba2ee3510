/**
 * Lambda behind `FunctionCalls`: one Invoke, never repeated here, because a second one may do something
 * twice.
 */
import { InvokeCommand, LambdaClient } from '@aws-sdk/client-lambda';
import * as z from 'zod';
import { isErrorName } from '../../contract/errors.ts';
import type { FunctionCalls } from '../../core/people/call-as.ts';
import { WalkbackError } from '../../core/shared/errors.ts';
import { CLIENT_DEFAULTS } from './client-defaults.ts';
import { isNamed, toWalkbackError } from './errors.ts';

interface Options {
  /** Prefix of the deployment's function names. */
  namePrefix: string;
  /** How long to wait for the answer. The function goes on running after that. */
  patienceMs: number;
  client?: LambdaClient;
}

const failure = z.object({ errorType: z.string().optional(), errorMessage: z.string().optional() });

const ended = (name: string, cause: unknown): WalkbackError =>
  new WalkbackError(
    'InternalError',
    `${name} ended without an answer. Send the same request again; if it repeats, look into its log.`,
    { cause, retryable: true },
  );

const parse = (name: string, payload: Uint8Array | undefined): unknown => {
  try {
    return JSON.parse(new TextDecoder().decode(payload));
  } catch (cause) {
    throw ended(name, cause);
  }
};

/** The error that the function answered, by its name. An error of Lambda itself is for us to look into. */
const thrownBy = (name: string, payload: unknown): WalkbackError => {
  const read = failure.safeParse(payload);
  const { errorType = '', errorMessage = '' } = read.success ? read.data : {};
  if (errorType === 'Function.ResponseSizeTooLarge') {
    return new WalkbackError('AnswerTooLarge', `The answer of ${name} is larger than 6 MB. Ask for less.`);
  }
  return isErrorName(errorType)
    ? new WalkbackError(errorType, errorMessage)
    : ended(name, `${errorType}: ${errorMessage}`);
};

export const createFunctionCalls = ({
  namePrefix,
  patienceMs,
  client = new LambdaClient({
    ...CLIENT_DEFAULTS,
    maxAttempts: 1,
    // Each call is ended by its own signal.
    requestHandler: { connectionTimeout: 3_000 },
  }),
}: Options): FunctionCalls => ({
  call: async (name, input) => {
    const over = AbortSignal.timeout(patienceMs);
    const command = new InvokeCommand({
      FunctionName: `${namePrefix}-${name}`,
      Payload: JSON.stringify(input),
    });
    try {
      const { FunctionError, Payload } = await client.send(command, { abortSignal: over });
      const answer = parse(name, Payload);
      if (FunctionError === undefined) return answer;
      throw thrownBy(name, answer);
    } catch (error) {
      if (over.aborted) {
        const message = `${name} has not answered yet, and goes on. Send the same request again: one with a requestId is joined; one without begins anew, so ask for less if it comes to this each time.`;
        throw new WalkbackError('StillRunning', message, { cause: error });
      }
      if (isNamed(error, 'RequestTooLargeException')) {
        throw new WalkbackError('RequestTooLarge', 'The request is too large: 6 MB at the most.', {
          cause: error,
        });
      }
      throw toWalkbackError('Lambda', error);
    }
  },
});

/** What a Task state does, by its Resource: the optimised integrations the saga uses, with AWS's error names. */
import * as z from 'zod';
import { TIMEOUT_MEMBER } from './definition.ts';
import { TaskError } from './task-error.ts';
import type { Tokens } from './tokens.ts';

/** The services tasks call. */
export interface TaskServices {
  /** The Invoke API. `functionError` is set when the function itself failed; a refused call throws the service's error. */
  invoke(functionName: string, payload: unknown): Promise<{ payload: unknown; functionError: boolean }>;
  publish(message: { topicArn: string; subject?: string; message: string }): Promise<{ messageId: string }>;
}

const invocation = z.object({ FunctionName: z.string(), Payload: z.unknown().optional() });
const publication = z.object({ TopicArn: z.string(), Subject: z.string().optional(), Message: z.string() });
const failure = z.object({
  errorType: z.string().default('Lambda.Unknown'),
  errorMessage: z.string().optional(),
});

const withoutTimeout = (input: unknown): unknown => {
  if (typeof input !== 'object' || input === null || Array.isArray(input)) return input;
  return Object.fromEntries(Object.entries(input).filter(([name]) => name !== TIMEOUT_MEMBER));
};

/** What the service itself refused is `Lambda.<name>`; without any answer the SDK's client failed. */
const serviceError = (error: unknown): TaskError => {
  const known = error instanceof Error ? error : new Error(String(error));
  const answered = '$metadata' in known && known.name !== 'TimeoutError';
  return new TaskError(answered ? `Lambda.${known.name}` : 'Lambda.SdkClientException', known.message);
};

const invokeFunction = async (services: TaskServices, input: unknown) => {
  const { FunctionName, Payload } = invocation.parse(input);
  const answer = await services.invoke(FunctionName, Payload).catch((error: unknown) => {
    throw serviceError(error);
  });
  if (answer.functionError) {
    const { errorType } = failure.parse(answer.payload ?? {});
    throw new TaskError(errorType, JSON.stringify(answer.payload));
  }
  return { ExecutedVersion: '$LATEST', Payload: answer.payload ?? null, StatusCode: 200 };
};

const tokenIn = (value: unknown): string | undefined => {
  if (typeof value !== 'object' || value === null) return undefined;
  for (const member of Object.values(value)) {
    const found = typeof member === 'string' && member.startsWith(TOKEN_PREFIX) ? member : tokenIn(member);
    if (found !== undefined) return found;
  }
  return undefined;
};

/** Marks a token, so that the task that hands it out finds it in its parameters again. */
export const TOKEN_PREFIX = 'walkback-task-token-';

/** The handler of one Task state. */
export const taskHandler =
  (state: string, resource: string, services: TaskServices, tokens: Tokens) =>
  async (raw: unknown): Promise<unknown> => {
    const input = withoutTimeout(raw);
    switch (resource) {
      case 'arn:aws:states:::lambda:invoke':
        return invokeFunction(services, input);
      case 'arn:aws:states:::lambda:invoke.waitForTaskToken': {
        const token = tokenIn(input)?.slice(TOKEN_PREFIX.length);
        if (token === undefined) throw new TaskError('States.Runtime', 'Parameters carry no $$.Task.Token');
        tokens.adopt(token, state);
        await invokeFunction(services, input);
        return tokens.wait(token);
      }
      case 'arn:aws:states:::sns:publish': {
        const { TopicArn, Subject, Message } = publication.parse(input);
        const subject = Subject === undefined ? {} : { subject: Subject };
        const { messageId } = await services.publish({ topicArn: TopicArn, message: Message, ...subject });
        return { MessageId: messageId };
      }
      default:
        throw new TaskError('States.Runtime', `${resource} is not offered by the embedded cloud`);
    }
  };

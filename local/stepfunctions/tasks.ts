/**
 * Runs a Task state by its Resource: the optimised integrations that the saga uses, with AWS's error names.
 */
import * as z from 'zod';
import { TIMEOUT_MEMBER } from './definition.ts';
import { DATA_LIMIT_EXCEEDED, dataLimitCause, isOverDataLimit, MAX_CAUSE_LENGTH } from './limits.ts';
import { NOTHING, type Takes, TaskError } from './task-error.ts';
import type { Tokens } from './tokens.ts';

/** The services tasks call. */
export interface TaskServices {
  /**
   * The Invoke API. `functionError` is set when the function itself failed; a refused call throws the
   * service's error. `begins` is called when the function begins.
   */
  invoke(
    functionName: string,
    payload: unknown,
    begins?: () => void,
  ): Promise<{ payload: unknown; functionError: boolean }>;
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

/**
 * An error of the service itself is `Lambda.<name>` or `SNS.<name>`. Without any answer, it is an error of
 * the SDK's client.
 */
const serviceError = (service: 'Lambda' | 'SNS', error: unknown): TaskError => {
  const known = error instanceof Error ? error : new Error(String(error));
  const answered = '$metadata' in known && known.name !== 'TimeoutError';
  return new TaskError(
    answered ? `${service}.${known.name}` : `${service}.SdkClientException`,
    known.message,
  );
};

const invokeFunction = async (services: TaskServices, input: unknown, begins?: () => void) => {
  const { FunctionName, Payload } = invocation.parse(input);
  const answer = await services.invoke(FunctionName, Payload, begins).catch((error: unknown) => {
    throw serviceError('Lambda', error);
  });
  if (answer.functionError) {
    const { errorType } = failure.parse(answer.payload ?? {});
    throw new TaskError(errorType, JSON.stringify(answer.payload).slice(0, MAX_CAUSE_LENGTH));
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

/** Marks a token, so that the task that hands it out finds it in its own parameters. */
export const TOKEN_PREFIX = 'walkback-task-token-';

/** The part of a Resource that says what is called. Its partition does not matter here. */
const integrationOf = (resource: string): string => resource.replace(/^arn:[\w-]+:states:::/, '');

const perform = async (
  state: string,
  resource: string,
  input: unknown,
  services: TaskServices,
  tokens: Tokens,
  begins?: () => void,
): Promise<unknown> => {
  switch (integrationOf(resource)) {
    case 'lambda:invoke':
      return invokeFunction(services, input, begins);
    case 'lambda:invoke.waitForTaskToken': {
      const token = tokenIn(input)?.slice(TOKEN_PREFIX.length);
      if (token === undefined)
        throw new TaskError('States.Runtime', 'Parameters carry no $$.Task.Token', NOTHING);
      const answered = tokens.adopt(token, state);
      await invokeFunction(services, input, begins);
      return answered();
    }
    case 'sns:publish': {
      const { TopicArn, Subject, Message } = publication.parse(input);
      const subject = Subject === undefined ? {} : { subject: Subject };
      const sent = services.publish({ topicArn: TopicArn, message: Message, ...subject });
      const { messageId } = await sent.catch((error: unknown) => {
        throw serviceError('SNS', error);
      });
      return { MessageId: messageId };
    }
    default:
      throw new TaskError('States.Runtime', `${resource} is not offered by the embedded cloud`, NOTHING);
  }
};

/**
 * The handler of one Task state. A result that is too large is a failed task, which a Retry or a Catch can
 * take by name, but not by `States.ALL`. Parameters that are too large end the execution, like any other data
 * between states.
 */
export const taskHandler =
  (
    { state, resource, largeResult }: { state: string; resource: string; largeResult: Takes },
    services: TaskServices,
    tokens: Tokens,
  ) =>
  /** `begins` is called when the task's function begins. */
  async (raw: unknown, begins?: () => void): Promise<unknown> => {
    const input = withoutTimeout(raw);
    if (isOverDataLimit(JSON.stringify(input)))
      throw new TaskError(DATA_LIMIT_EXCEEDED, dataLimitCause(state, 'provided parameters'), NOTHING);
    const result = await perform(state, resource, input, services, tokens, begins);
    if (isOverDataLimit(JSON.stringify(result)))
      throw new TaskError(DATA_LIMIT_EXCEEDED, dataLimitCause(state, 'returned a result'), largeResult);
    return result;
  };

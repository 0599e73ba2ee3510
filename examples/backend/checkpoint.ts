import { InvokeCommand, LambdaClient } from '@aws-sdk/client-lambda';

const lambda = new LambdaClient({});

/** What a function answers. What it refuses comes back from Lambda as an answer with `FunctionError`; here it is thrown. */
export const invoke = async (name: string, input: unknown): Promise<Record<string, unknown>> => {
  const { FunctionError, Payload } = await lambda.send(
    new InvokeCommand({ FunctionName: name, Payload: JSON.stringify(input) }),
  );
  const answer: Record<string, unknown> = JSON.parse(Payload?.transformToString() ?? '{}');
  if (FunctionError === undefined) return answer;
  throw Object.assign(new Error(String(answer['errorMessage'])), { name: String(answer['errorType']) });
};

/** Runs a tool after a checkpoint, never without one: `StaleEpoch` says that somebody rolled the session back meanwhile. */
export const withCheckpoint = async <T>(
  before: { sessionId: string; epoch: number; forMessageId: string; toolExecutionId: string },
  tool: () => Promise<T>,
): Promise<T> => {
  await invoke('walkback-checkpoint', { ...before, reason: 'before-tool' });
  return tool();
};

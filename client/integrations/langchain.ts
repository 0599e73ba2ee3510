/**
 * LangChain (`langchain` 1.5): a checkpoint before each tool of `createAgent`, as the `wrapToolCall` of a
 * middleware. It is awaited, and runs once for each execution. A checkpoint in the node would come twice,
 * because `interrupt()` starts a node again from its beginning. A failed checkpoint ends the agent's run with
 * its error.
 */
import { requireFields } from '../given.ts';
import { freshId } from '../ids.ts';
import type { Run } from '../run.ts';

interface ToolCallRequest {
  toolCall: { id?: string; name: string; args: unknown };
  runtime?: { signal?: AbortSignal | undefined };
}

/** For `createMiddleware({ name, wrapToolCall })`. Give `agent.invoke` the run's signal too (`signal: run.signal`). */
export const checkpointed = (run: Run) => {
  requireFields('checkpointed', { run }, { run: 'run' });
  return <Request extends ToolCallRequest, Result>(
    request: Request,
    handler: (request: Request) => Result | PromiseLike<Result>,
  ): Promise<Result> => {
    const { id = freshId('call'), name, args: input } = request.toolCall;
    return run.guard({ id, name, input, signal: request.runtime?.signal }, () => handler(request));
  };
};

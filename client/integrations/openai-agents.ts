/**
 * OpenAI Agents (`@openai/agents-core` 0.20): a checkpoint before each function tool. Wraps `invoke`, because the hooks of a
 * runner are events that nobody waits for. Hosted tools (web search, code interpreter) run at the provider: nothing here
 * sees them. For `shellTool`, `applyPatchTool` and `computerTool` call `run.before` in the `Shell`, `Editor` or `Computer`
 * that you give them.
 */
import { isWalkbackError } from '../errors.ts';
import { requireFields } from '../given.ts';
import { freshId } from '../ids.ts';
import type { Run } from '../run.ts';
import type { ToolCall } from '../tool-call.ts';

interface Details {
  toolCall?: { callId?: string };
}

type Invoke = (context: unknown, input: string, details?: Details) => Promise<unknown>;

interface FunctionTool {
  name: string;
  invoke: Invoke;
}

const isFunctionTool = (tool: object): tool is FunctionTool =>
  'invoke' in tool && typeof tool.invoke === 'function' && 'name' in tool && typeof tool.name === 'string';

/** The model's text, where it is JSON. */
const inputOf = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
};

/** What the model is told when its tool did not run, as the SDK tells it of errors of tools. */
const refusal = (name: string, error: unknown): string =>
  `${name} did not run, because there is no checkpoint before it: ${String(error)}`;

const guarded =
  (run: Run, tool: FunctionTool): Invoke =>
  async (context, input, details) => {
    const id = details?.toolCall?.callId ?? freshId('call');
    const call: ToolCall = { id, name: tool.name, input: inputOf(input) };
    try {
      await run.before(call);
    } catch (error) {
      // The end of the run ends the runner's loop too; anything else is for the model to know.
      if (run.signal.aborted || !isWalkbackError(error)) throw error;
      return refusal(tool.name, error);
    }
    return tool.invoke(context, input, details);
  };

/**
 * The same tools, each with a checkpoint before it unless it only reads. Give the runner the run's signal too
 * (`signal: run.signal`). Handoffs need nothing: wrap the tools of each agent.
 */
export const checkpointed = <Tool extends object>(tools: readonly Tool[], run: Run): Tool[] => {
  requireFields('checkpointed', { tools, run }, { tools: 'list', run: 'run' });
  return tools.map((tool) => (isFunctionTool(tool) ? { ...tool, invoke: guarded(run, tool) } : tool));
};

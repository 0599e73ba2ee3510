/**
 * OpenAI Agents (`@openai/agents-core` 0.20): a checkpoint before each function tool, as the last of its
 * input guardrails. Guardrails are awaited, after a person's approval and before the tool's own timeout
 * begins. The hooks of a runner are events, which nobody waits for. `invoke` stays as it is: from it the SDK
 * finds out how a tool reads its input, and `needsApproval` gets that too.
 *
 * Hosted tools (web search, code interpreter) run at the provider, so their calls cannot be seen here. For
 * `shellTool`, `applyPatchTool` and `computerTool`, call `run.before` in the `Shell`, `Editor` or `Computer`
 * that you give them. Tools of an agent's `mcpServers` are made when the agent runs: give it
 * `checkpointed(await getAllMcpTools(servers), run)` as tools instead.
 */
import { errors, isWalkbackError } from '../errors.ts';
import { requireFields } from '../given.ts';
import { freshId } from '../ids.ts';
import type { Run } from '../run.ts';

interface GuardedCall {
  toolCall: { callId?: string; arguments?: string };
}

interface Guardrail {
  type: 'tool_input';
  name: string;
  run(data: GuardedCall): Promise<{
    behavior: { type: 'allow' } | { type: 'rejectContent'; message: string };
  }>;
}

interface FunctionTool {
  name: string;
  inputGuardrails?: unknown;
}

const isFunctionTool = (tool: object): tool is FunctionTool =>
  'invoke' in tool && typeof tool.invoke === 'function' && 'name' in tool && typeof tool.name === 'string';

/** The model's text, parsed if it is JSON. */
const inputOf = (text = ''): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
};

/** What the model is told when its tool did not run, worded like the SDK's own errors of tools. */
const refusal = (name: string, error: unknown): string =>
  `${name} did not run, because there is no checkpoint before it: ${String(error)}`;

const guardrail = (run: Run, name: string): Guardrail => ({
  type: 'tool_input',
  name: 'walkback',
  run: async ({ toolCall }) => {
    const { callId: id = freshId('call') } = toolCall;
    try {
      await run.before({ id, name, input: inputOf(toolCall.arguments) });
    } catch (error) {
      // The end of the run also ends the runner's loop. Any other error goes to the model.
      if (run.signal.aborted || !isWalkbackError(error)) throw error;
      return { behavior: { type: 'rejectContent', message: refusal(name, error) } };
    }
    return { behavior: { type: 'allow' } };
  },
});

/**
 * An older SDK has no guardrails for tools, and would run the tool without a checkpoint. Its tools have no
 * list of guardrails.
 */
const guarded = <Tool extends FunctionTool>(run: Run, tool: Tool): Tool => {
  const { name, inputGuardrails } = tool;
  if (Array.isArray(inputGuardrails)) {
    return { ...tool, inputGuardrails: [...(inputGuardrails as unknown[]), guardrail(run, name)] };
  }
  throw new errors.InvalidArguments(
    `checkpointed: the tool '${name}' has no inputGuardrails. Make it with tool() of @openai/agents-core 0.20 or newer.`,
  );
};

/**
 * The same tools, each with a checkpoint before it unless it only reads. Give the runner the run's signal too
 * (`signal: run.signal`). Handoffs need nothing: wrap the tools of each agent.
 */
export const checkpointed = <Tool extends object>(tools: readonly Tool[], run: Run): Tool[] => {
  requireFields('checkpointed', { tools, run }, { tools: 'list', run: 'run' });
  return tools.map((tool) => (isFunctionTool(tool) ? guarded(run, tool) : tool));
};

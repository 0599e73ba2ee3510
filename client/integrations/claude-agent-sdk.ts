/**
 * The Claude Agent SDK: a checkpoint before each tool, as hooks of `query`. They are awaited, get the calls of subagents too,
 * and share the session's runs: each prompt begins one. What a hook does not hear of (the host may leave one out) is found
 * after the tool, and the checkpoint that finds it is marked `late`.
 */
import { isWalkbackError } from '../errors.ts';
import type { Run, RunOptions } from '../run.ts';
import type { Session } from '../session.ts';

interface HookInput {
  hook_event_name: string;
  prompt_id?: string;
  tool_name?: string;
  tool_input?: unknown;
  tool_use_id?: string;
}

interface HookAnswer {
  continue?: boolean;
  stopReason?: string;
  hookSpecificOutput?: {
    hookEventName: 'PreToolUse';
    permissionDecision: 'deny';
    permissionDecisionReason: string;
  };
}

interface Matcher {
  hooks: ((input: HookInput) => Promise<HookAnswer>)[];
  timeout: number;
  onFailure: 'block';
}

export type CheckpointHooks = Record<'UserPromptSubmit' | 'PreToolUse' | 'PostToolUse' | 'Stop', Matcher[]>;

/** Longer than a checkpoint may take. When the host gives up waiting, the tool does not run. */
const TIMEOUT_SECONDS = 920;

/** For `query({ options: { hooks } })`, for one session. */
export const checkpointHooks = (
  session: Session,
  options: Omit<RunOptions, 'message'> = {},
): CheckpointHooks => {
  let run: Run | undefined;
  let promptId: string | undefined;
  const seen = new Set<string>();

  const begin = (id: string | undefined): Run => {
    promptId = id;
    run = session.run({ ...options, ...(id === undefined ? {} : { message: { id } }) });
    return run;
  };
  /** Background work goes on under the prompt that began it. */
  const running = (): Run => run ?? begin(promptId);

  const blocked = (error: unknown): HookAnswer => {
    const reason = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
    const permissionDecisionReason = `No checkpoint, so the tool does not run. ${reason}`;
    const hookSpecificOutput = {
      hookEventName: 'PreToolUse' as const,
      permissionDecision: 'deny' as const,
      permissionDecisionReason,
    };
    // The end of the run ends the host's loop; anything else is told to the model.
    return running().signal.aborted || !isWalkbackError(error)
      ? { continue: false, stopReason: permissionDecisionReason, hookSpecificOutput }
      : { hookSpecificOutput };
  };

  const before = async ({ tool_name: name = '', tool_input: input, tool_use_id: id = '' }: HookInput) => {
    seen.add(id);
    try {
      await running().before({ id, name, input });
      return {};
    } catch (error) {
      return blocked(error);
    }
  };

  const after = async ({ tool_name: name = '', tool_input: input, tool_use_id: id = '' }: HookInput) => {
    if (!seen.has(id)) await running().before({ id, name, input, reason: `late: ${name} had run` });
    return {};
  };

  const on = (hook: (input: HookInput) => Promise<HookAnswer>): Matcher[] => [
    { hooks: [hook], timeout: TIMEOUT_SECONDS, onFailure: 'block' },
  ];
  return {
    UserPromptSubmit: on(async ({ prompt_id: id }) => {
      begin(id);
      return {};
    }),
    PreToolUse: on(before),
    PostToolUse: on(after),
    Stop: on(async () => {
      await running().finish();
      return {};
    }),
  };
};

/**
 * The Claude Agent SDK: a checkpoint before each tool, as hooks of `query`. The hooks are awaited, get the
 * calls of subagents too, and share the session's runs: each prompt begins one. A call that no hook was told
 * of (the host may leave one out) is noticed after the tool ran, and the checkpoint taken then is marked
 * `late`.
 */
import { type ClaudeHookAnswer, type ClaudeHookInput, createClaudeHooks } from '../claude-hooks.ts';
import { requireFields } from '../given.ts';
import type { RunOptions } from '../run.ts';
import type { Session } from '../session.ts';

interface Matcher {
  hooks: ((input: ClaudeHookInput) => Promise<ClaudeHookAnswer>)[];
  timeout: number;
  onFailure: 'block';
}

export type CheckpointHooks = Record<
  'UserPromptSubmit' | 'PreToolUse' | 'PostToolUse' | 'PostToolUseFailure' | 'Stop',
  Matcher[]
>;

/** Longer than a checkpoint may take. If the host gives up waiting, the tool does not run. */
const TIMEOUT_SECONDS = 920;

/** For `query({ options: { hooks } })`, for one session. */
export const checkpointHooks = (
  session: Session,
  options: Omit<RunOptions, 'message'> = {},
): CheckpointHooks => {
  requireFields('checkpointHooks', { session }, { session: 'session' });
  const hear = createClaudeHooks(async () => {
    // Somebody may have rolled back since the last prompt.
    await session.refresh();
    return session;
  }, options);
  const matchers: Matcher[] = [
    { hooks: [(input) => hear(input)], timeout: TIMEOUT_SECONDS, onFailure: 'block' },
  ];
  return {
    UserPromptSubmit: matchers,
    PreToolUse: matchers,
    PostToolUse: matchers,
    PostToolUseFailure: matchers,
    Stop: matchers,
  };
};

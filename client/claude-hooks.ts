/**
 * Claude's hooks, for the Agent SDK and for the plugin of Claude Code: a checkpoint before each tool,
 * including the tools of subagents. Each prompt is a run. So a rollback between two prompts is known to the
 * second, and ends any work that goes on under the first. A tool that `PreToolUse` was not asked about is
 * noticed after it ran, and the checkpoint taken then is marked `late`.
 */
import { isReadOnly } from './classify.ts';
import { isWalkbackError } from './errors.ts';
import type { OnCheckpointError, Run, RunOptions } from './run.ts';
import type { Session } from './session.ts';

export interface ClaudeHookInput {
  hook_event_name: string;
  /** Id of the person's last prompt. Background work keeps the id of the prompt that began it. */
  prompt_id?: string;
  /** What the person wrote. */
  prompt?: string;
  tool_name?: string;
  tool_input?: unknown;
  tool_use_id?: string;
}

export interface ClaudeHookAnswer {
  continue?: boolean;
  stopReason?: string;
  /** A message for the person. */
  systemMessage?: string;
  hookSpecificOutput?: {
    hookEventName: 'PreToolUse';
    permissionDecision: 'deny';
    permissionDecisionReason: string;
  };
}

export type ClaudeHooks = (input: ClaudeHookInput) => Promise<ClaudeHookAnswer>;

const reasonOf = (error: unknown): string =>
  error instanceof Error ? `${error.name}: ${error.message}` : String(error);

/** Names what has no checkpoint, and says what becomes of the tool. */
const MISSING = {
  denied: 'No checkpoint, so the tool does not run.',
  warned: 'No checkpoint, and the tool runs all the same.',
  after: 'No checkpoint after the tool.',
  prompt: 'No session for this prompt.',
  turn: 'No checkpoint at the end of the turn.',
} as const;

const missing = (event: string, isDenied: boolean): string => {
  if (event === 'PreToolUse') return isDenied ? MISSING.denied : MISSING.warned;
  if (event === 'UserPromptSubmit') return MISSING.prompt;
  return event === 'Stop' ? MISSING.turn : MISSING.after;
};

/**
 * The end of a run ends the host's loop, in both modes. Any other failure stops a tool that has not run yet,
 * and the model is told. With `warn`, or after the tool, the person is told instead.
 */
const refusal = (
  event: string,
  error: unknown,
  { isOver, mode }: { isOver: boolean; mode: OnCheckpointError | undefined },
): ClaudeHookAnswer => {
  const isDenied = event === 'PreToolUse' && (isOver || mode !== 'warn');
  const reason = `${missing(event, isDenied)} ${reasonOf(error)}`;
  const hookSpecificOutput = {
    hookEventName: 'PreToolUse' as const,
    permissionDecision: 'deny' as const,
    permissionDecisionReason: reason,
  };
  return {
    ...(isOver ? { continue: false, stopReason: reason } : {}),
    ...(isDenied ? { hookSpecificOutput } : {}),
    ...(isOver || isDenied ? {} : { systemMessage: `Walkback: ${reason}` }),
  };
};

/** Where a prompt began. */
interface BegunPrompt {
  sessionId: string;
  epoch: number;
}

/**
 * Remembers prompts beyond a restart: where they began, so that a rollback since then ends their work, and what the
 * person wrote, until a checkpoint has it.
 */
export interface BegunPrompts {
  find(promptId: string): Promise<BegunPrompt | undefined>;
  add(promptId: string, begun: BegunPrompt): Promise<void>;
  textOf(promptId: string): Promise<string | undefined>;
  /** A checkpoint has the text. */
  dropText(promptId: string): Promise<void>;
}

interface SaidMessage {
  id?: string;
  text?: string;
}

/** Most prompts whose work may still go on. A conversation may have any number. */
const MOST_RUNS = 200;

/** `sessionOf` answers the session as it is now. It is called once for each prompt that uses a tool. */
export const createClaudeHooks = (
  sessionOf: () => Promise<Session>,
  options: Omit<RunOptions, 'message' | 'epoch'> = {},
  prompts?: BegunPrompts,
): ClaudeHooks => {
  /** The last prompt; undefined when the host names none. */
  let promptId: string | undefined;
  /**
   * Runs by prompt. Work goes on under the prompt that began it, so a rollback ends the work of every earlier
   * prompt.
   */
  const runs = new Map<string | undefined, Promise<Run>>();
  /** What was said of a prompt. Its run reads this when it takes a checkpoint. */
  const messages = new Map<string | undefined, SaidMessage>();
  /** Prompts under which a tool was called that may change something. */
  const worked = new Set<string | undefined>();
  const seen = new Set<string>();

  const forget = (id: string | undefined): void => {
    runs.delete(id);
    messages.delete(id);
    worked.delete(id);
  };

  const begin = (id: string | undefined, text: string | undefined): Promise<Run> => {
    promptId = id;
    const message: SaidMessage = { ...(id ? { id } : {}), ...(text === undefined ? {} : { text }) };
    messages.set(id, message);
    const begun = (async () => {
      const session = await sessionOf();
      const known = id === undefined ? undefined : await prompts?.find(id);
      // The prompt was heard of before a restart, and no tool since.
      if (id !== undefined && message.text === undefined) {
        const kept = await prompts?.textOf(id);
        if (kept !== undefined) message.text ??= kept;
      }
      // The conversation may have gone on in another session, which was not rolled back.
      const since = known?.sessionId === session.sessionId ? { epoch: known.epoch } : undefined;
      const run = session.run({ ...options, message, ...since });
      if (id !== undefined && since === undefined) await prompts?.add(id, run);
      return run;
    })();
    runs.set(id, begun);
    for (const [oldest] of runs) if (runs.size > MOST_RUNS) forget(oldest);
    begun.catch(() => {
      if (runs.get(id) === begun) forget(id);
    });
    return begun;
  };

  const isKnown = async (id: string | undefined): Promise<boolean> =>
    id !== undefined && (await prompts?.find(id)) !== undefined;

  const runOf = (input: ClaudeHookInput): Promise<Run> => {
    const { hook_event_name: event, prompt_id: id = promptId } = input;
    const isNamelessPrompt = event === 'UserPromptSubmit' && id === undefined;
    const running = isNamelessPrompt ? undefined : runs.get(id);
    if (running === undefined) return begin(id, input.prompt);
    // The first tool may be heard of before its prompt is.
    const message = messages.get(id);
    if (message !== undefined && input.prompt !== undefined) message.text ??= input.prompt;
    return running;
  };

  const hear = async (input: ClaudeHookInput, run: Run): Promise<void> => {
    const { hook_event_name: event, tool_name: name = '', tool_input, tool_use_id: id = '' } = input;
    const call = { id, name, input: tool_input };
    if (event === 'PreToolUse') await run.before(call);
    else if (event.startsWith('PostToolUse')) await run.before({ ...call, hasRun: true });
    else if (event === 'Stop') await run.finish();
    // Without prompt ids, only the end of a turn separates it from the next one.
    if (event === 'Stop' && promptId === undefined) forget(undefined);
  };

  /** Whether the turn may have changed something. A prompt of before a restart may have. */
  const hasWorked = async ({ prompt_id: id = promptId }: ClaudeHookInput): Promise<boolean> =>
    worked.has(id) || (!runs.has(id) && (await isKnown(id)));

  return async (input) => {
    const { hook_event_name: event, tool_name: name = '', tool_input, tool_use_id: id = '' } = input;
    const isRead = isReadOnly(name, tool_input);
    if (event === 'PreToolUse') seen.add(id);
    // Calls without an id cannot be told apart. Once one was announced before it ran, the others are taken to
    // be announced too.
    if (event.startsWith('PostToolUse') && (id === '' ? seen.has(id) : seen.delete(id))) return {};
    // A read left nothing to capture, so no run is begun for it.
    if (event.startsWith('PostToolUse') && isRead) return {};
    if (event === 'Stop' && !(await hasWorked(input))) return {};
    if (event.includes('ToolUse') && !isRead) worked.add(input.prompt_id ?? promptId);
    let run: Run | undefined;
    try {
      const running = runOf(input);
      // A read waits neither for the session nor for its baseline.
      run = isRead ? await Promise.race([running, Promise.resolve(undefined)]) : await running;
      if (run !== undefined) await hear(input, run);
      // The checkpoint of the tool has the text.
      const isKept = event.includes('ToolUse') && !isRead;
      if (isKept && input.prompt_id !== undefined) await prompts?.dropText(input.prompt_id);
      return {};
    } catch (error) {
      // A read needs no checkpoint, so it needs no session either: there may be no repository or no cloud
      // yet.
      if (isRead && run === undefined && isWalkbackError(error)) return {};
      const isOver = run?.signal.aborted === true || !isWalkbackError(error);
      return refusal(event, error, { isOver, mode: options.onCheckpointError });
    }
  };
};

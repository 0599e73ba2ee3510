/** What the service keeps of one conversation of Claude Code: its hooks, its last prompt, and what is to be told. */
import { isReadOnly } from '../../client/classify.ts';
import { type ClaudeHookAnswer, createClaudeHooks } from '../../client/claude-hooks.ts';
import { findHostSession, hostSession } from '../../client/host-session.ts';
import { fitId } from '../../client/ids.ts';
import type { CheckpointWarning, Session, Walkback } from '../../client/index.ts';
import type { Asked, HookInput } from './asked.ts';
import type { KeptPrompts } from './begun-prompts.ts';
import { createSlash, type SlashName } from './slash/commands.ts';
import type { LastPrompt } from './slash/points.ts';

/** The host's answer for a prompt: shown to the person or added for the model. */
interface PromptAnswer {
  decision?: 'block';
  reason?: string;
  systemMessage?: string;
  hookSpecificOutput?: { hookEventName: 'UserPromptSubmit'; additionalContext: string };
}

export interface Conversation {
  hear(input: HookInput, program: string): Promise<ClaudeHookAnswer | PromptAnswer>;
}

const SLASHES: ReadonlyMap<string, SlashName> = new Map([
  ['walkback:undo', 'undo'],
  ['walkback:rewind', 'rewind'],
  ['walkback:redo', 'redo'],
]);

const told = ({ call, error }: CheckpointWarning): string =>
  `Walkback: ${call.name} runs without a checkpoint before it. ${String(error)}`;

const MOST_TITLE = 200;

const titleOf = (prompt: string): string | undefined =>
  prompt
    .split('\n')
    .map((line) => line.trim())
    .find((line) => line !== '')
    ?.slice(0, MOST_TITLE);

const escaped = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);

/** The command with the plugin's program under its plain name, which the classifier knows. */
const underItsName = (command: string, program: string): string =>
  command.replaceAll(
    new RegExp(`(^|[\\s;&|(])(["']?)${escaped(program)}\\2(?=$|[\\s;&|)])`, 'g'),
    '$1walkback',
  );

/** Whether this call of the host's shell only lists or plans, by the program of the plugin at this path. */
const isOwnLook = (toolName: string | undefined, input: unknown, program: string): boolean => {
  if (toolName !== 'Bash' || program === '' || typeof input !== 'object' || input === null) return false;
  const command: unknown = Reflect.get(input, 'command');
  if (typeof command !== 'string' || !command.includes(program)) return false;
  return isReadOnly('Bash', { command: underItsName(command, program) });
};

const sessionFor = (walkback: Walkback, { root, sessionId, input }: Asked): Promise<Session> =>
  sessionId === ''
    ? hostSession(walkback, root, `claude-${input.session_id}`)
    : walkback.sessions.get(sessionId);

export const openConversation = (walkback: Walkback, asked: Asked, prompts: KeptPrompts): Conversation => {
  const { sessionId, mode, input: first } = asked;
  const notices: string[] = [];
  let last: LastPrompt | undefined;
  /** For the model, which does not see that the files have changed below it. */
  let moved: string | undefined;

  const hear = createClaudeHooks(
    () => sessionFor(walkback, asked),
    { onCheckpointError: mode, onWarning: (warning) => void notices.push(told(warning)) },
    prompts,
  );
  const slash = createSlash({
    findSession: () =>
      sessionId === ''
        ? findHostSession(walkback, `claude-${first.session_id}`)
        : walkback.sessions.get(sessionId),
    lastPrompt: () => last,
    now: () => new Date(),
  });

  /** The session and its baseline begin now, and the first tool waits for what is left of that. */
  const submit = async (input: HookInput): Promise<PromptAnswer> => {
    const { prompt = '', prompt_id: id } = input;
    if (prompt.startsWith('/walkback:')) return {};
    if (id !== undefined) {
      last = { messageId: fitId(id), title: titleOf(prompt) };
      // The cloud may end before a tool comes, and with it what only memory has.
      if (prompt !== '') await prompts.keepText(id, prompt);
    }
    // The first tool tells what is wrong.
    void hear(input);
    if (moved === undefined) return {};
    const additionalContext = `With Walkback, the person put the files back to ${moved}. What was changed after that is gone, so look at files again before you change them.`;
    moved = undefined;
    return { hookSpecificOutput: { hookEventName: 'UserPromptSubmit', additionalContext } };
  };

  const expand = async (input: HookInput): Promise<PromptAnswer> => {
    const name = SLASHES.get(input.command_name ?? '');
    if (name === undefined) return {};
    const answer = await slash({ name, words: input.command_args ?? '' });
    if (answer.moved !== undefined) ({ moved } = answer);
    return { decision: 'block', reason: answer.text };
  };

  const tool = async (input: HookInput, program: string): Promise<ClaudeHookAnswer> => {
    if (isOwnLook(input.tool_name, input.tool_input, program)) return {};
    return hear(input);
  };

  return {
    hear: async (input, program) => {
      if (input.hook_event_name === 'UserPromptSubmit') return submit(input);
      if (input.hook_event_name === 'UserPromptExpansion') return expand(input);
      const answer = await tool(input, program);
      const said = [answer.systemMessage, ...notices.splice(0)].filter((text) => text !== undefined);
      return said.length === 0 ? answer : { ...answer, systemMessage: said.join('\n') };
    },
  };
};

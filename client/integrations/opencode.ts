/**
 * opencode: a checkpoint before each tool, as a plugin. Tools of subagents are covered: their sessions belong
 * to the message that began them. A call that opencode makes without asking its plugins is noticed after it
 * ran, and the checkpoint taken then is marked `late`.
 */
import { type ClaudeHookAnswer, type ClaudeHooks, createClaudeHooks } from '../claude-hooks.ts';
import { hostSession } from '../host-session.ts';
import type { RunOptions } from '../run.ts';
import { Walkback } from '../walkback.ts';

interface PluginInput {
  directory: string;
  client: {
    session: {
      get(request: { path: { id: string } }): Promise<{ data?: { parentID?: string } }>;
      abort(request: { path: { id: string } }): Promise<unknown>;
    };
  };
}

interface Call {
  tool: string;
  sessionID: string;
  callID: string;
}

export interface OpencodeHooks {
  'chat.message': (input: { sessionID: string }, output: { message: { id: string } }) => Promise<void>;
  'tool.execute.before': (input: Call, output: { args: unknown }) => Promise<void>;
  'tool.execute.after': (input: Call & { args: unknown }) => Promise<void>;
  event: (input: { event: { type: string; properties: object } }) => Promise<void>;
}

export interface OpencodeOptions extends Omit<RunOptions, 'message'> {
  /** Default: a client of the embedded cloud of this machine. */
  walkback?: Walkback;
  /** Default: `WALKBACK_SESSION`, else one session for each session of opencode. */
  sessionId?: string;
}

/** Makes the plugin. Give `walkbackPlugin()` a name of your own in a file of `.opencode/plugin`, and export it. */
export const walkbackPlugin =
  ({
    walkback = new Walkback(),
    sessionId = process.env['WALKBACK_SESSION'] ?? '',
    ...options
  }: OpencodeOptions = {}) =>
  async ({ directory, client }: PluginInput): Promise<OpencodeHooks> => {
    const roots = new Map<string, Promise<string>>();
    const hosts = new Map<string, { hear: ClaudeHooks; messageId?: string }>();

    const findRoot = async (id: string): Promise<string> => {
      const { data } = await client.session.get({ path: { id } });
      return data?.parentID === undefined ? id : rootOf(data.parentID);
    };
    const rootOf = (id: string): Promise<string> => {
      const root = roots.get(id) ?? findRoot(id);
      roots.set(id, root);
      root.catch(() => roots.delete(id));
      return root;
    };
    const hostOf = (root: string) => {
      const open = () =>
        sessionId ? walkback.sessions.get(sessionId) : hostSession(walkback, directory, `opencode-${root}`);
      const host = hosts.get(root) ?? { hear: createClaudeHooks(open, options) };
      hosts.set(root, host);
      return host;
    };
    const say = (root: string, event: string, call?: Call, args?: unknown): Promise<ClaudeHookAnswer> => {
      const { hear, messageId } = hostOf(root);
      const tool = { tool_name: call?.tool, tool_use_id: call?.callID, tool_input: args };
      return hear({ hook_event_name: event, prompt_id: messageId, ...tool });
    };
    /**
     * A refusal becomes an error of the tool, which the model reads. The end of the run also ends opencode's
     * loop.
     */
    const obey = async (
      root: string,
      { continue: goesOn, hookSpecificOutput, systemMessage }: ClaudeHookAnswer,
    ): Promise<void> => {
      if (systemMessage !== undefined) process.emitWarning(systemMessage, 'WalkbackWarning');
      if (goesOn === false) await client.session.abort({ path: { id: root } });
      if (hookSpecificOutput !== undefined) throw new Error(hookSpecificOutput.permissionDecisionReason);
    };

    const ask = async (event: string, call: Call, args: unknown): Promise<void> => {
      const root = await rootOf(call.sessionID);
      await obey(root, await say(root, event, call, args));
    };

    return {
      'chat.message': async ({ sessionID }, { message }) => {
        const root = await rootOf(sessionID);
        if (root === sessionID) hostOf(root).messageId = message.id;
      },
      'tool.execute.before': (call, { args }) => ask('PreToolUse', call, args),
      'tool.execute.after': (call) => ask('PostToolUse', call, call.args),
      event: async ({ event: { type, properties } }) => {
        if (type !== 'session.idle') return;
        const id: unknown = Reflect.get(properties, 'sessionID');
        if (typeof id !== 'string' || (await rootOf(id)) !== id) return;
        await say(id, 'Stop');
      },
    };
  };

/** Claude Code as a person runs it, in a home of its own, with a scripted model. */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { ScriptedCall } from '../integration-conformance.ts';
import { environmentFor } from './claude.ts';
import { installed } from './installed.ts';
import { type MessagesApi, startMessagesApi } from './messages-api.ts';

export const BINARY = installed('@anthropic-ai/claude-agent-sdk-linux-x64/claude');
export const isBinaryInstalled = BINARY !== undefined;

export interface ClaudeHome extends AsyncDisposable {
  home: string;
  /** The last `claude` command's standard output. */
  claude: (
    args: string[],
    more?: { cwd?: string; api?: MessagesApi; env?: Record<string, string> },
  ) => Promise<string>;
}

/** The model asks for the shell: it runs the text of each call. */
export const startShellScript = (steps: readonly ScriptedCall[][]): Promise<MessagesApi> =>
  startMessagesApi(steps, {
    edit: 'Bash',
    editInput: ({ text }) => ({ command: text, description: 'scripted' }),
    delegate: 'Agent',
    delegateInput: (prompt) => ({ description: 'edit', prompt, subagent_type: 'general-purpose' }),
  });

export const shell = (id: string, text: string): ScriptedCall => ({ id, tool: 'edit', path: '', text });

export const openClaudeHome = (common: Record<string, string> = {}): ClaudeHome => {
  if (BINARY === undefined) throw new Error('install the hosts first: npm run hosts');
  const home = mkdtempSync(join(tmpdir(), 'walkback-claude-'));
  return {
    home,
    claude: async (args, { cwd = home, api, env = {} } = {}) => {
      const url = api?.url ?? 'http://127.0.0.1:9';
      const running = promisify(execFile)(BINARY, args, {
        cwd,
        env: { ...environmentFor({ url }, home), ...common, ...env },
        maxBuffer: 64 * 1024 ** 2,
      });
      running.child.stdin?.end();
      return (await running).stdout;
    },
    [Symbol.asyncDispose]: async () => rmSync(home, { recursive: true, force: true, maxRetries: 10 }),
  };
};

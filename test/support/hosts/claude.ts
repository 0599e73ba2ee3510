/**
 * The real binary of Claude Code, whose model is a scripted Messages API on loopback. It is run by its Agent SDK, once with the
 * hooks for the SDK and once with the plugin of Claude Code. It reaches no network, and no file of the person's.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as z from 'zod';
import { startHookService } from '../../../cli/hooks/service.ts';
import { checkpointHooks } from '../../../client/integrations/claude-agent-sdk.ts';
import type { Act, Ended, Host, ScriptedCall, Turn } from '../integration-conformance.ts';
import { installed } from './installed.ts';
import { type MessagesApi, startMessagesApi } from './messages-api.ts';

export const PLUGIN = join(import.meta.dirname, '../../../integrations/claude-code');
const SDK = installed('@anthropic-ai/claude-agent-sdk/sdk.mjs');
export const isClaudeInstalled = SDK !== undefined;

interface Sdk {
  query(question: { prompt: string; options: object }): AsyncIterable<{ type: string }>;
  createSdkMcpServer(server: object): object;
  tool(
    name: string,
    description: string,
    shape: z.ZodRawShape,
    act: (call: ScriptedCall, extra: { signal?: AbortSignal }) => Promise<object>,
  ): object;
}

const NAMES = {
  edit: 'mcp__script__edit',
  delegate: 'Agent',
  delegateInput: (prompt: string) => ({ description: 'edit', prompt, subagent_type: 'general-purpose' }),
};

const shape = { id: z.string(), tool: z.enum(['edit', 'delegate']), path: z.string(), text: z.string() };

const serverFor = (sdk: Sdk, act: Act): object => {
  const edit = sdk.tool('edit', 'edits', shape, async (call, { signal }) => ({
    content: [{ type: 'text', text: await act(call, signal) }],
  }));
  return sdk.createSdkMcpServer({ name: 'script', version: '1.0.0', tools: [edit] });
};

/** Telemetry, updates and everything else that is not the model are off. */
export const environmentFor = (api: Pick<MessagesApi, 'url'>, home: string): Record<string, string> => ({
  PATH: process.env['PATH'] ?? '',
  HOME: home,
  TMPDIR: home,
  CLAUDE_CONFIG_DIR: join(home, '.claude'),
  ANTHROPIC_BASE_URL: api.url,
  ANTHROPIC_API_KEY: 'none',
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
  DISABLE_TELEMETRY: '1',
  DISABLE_ERROR_REPORTING: '1',
  DISABLE_AUTOUPDATER: '1',
  // The script's tool is there from the first request, and a subagent ends before its parent goes on.
  ENABLE_TOOL_SEARCH: 'false',
  CLAUDE_CODE_DISABLE_BACKGROUND_TASKS: '1',
});

interface Setting {
  env?: Record<string, string>;
  options?: object;
  cwd?: string;
}

/** One prompt. `setting` says how the checkpoints come. */
export const playClaude = async (
  { steps, act, signal }: Pick<Turn, 'steps' | 'act' | 'signal'>,
  { env = {}, options = {}, cwd }: Setting,
): Promise<Ended> => {
  if (SDK === undefined) throw new Error('install the hosts first: npm run hosts');
  const sdk: Sdk = await import(SDK);
  await using api = await startMessagesApi(steps, NAMES);
  const home = mkdtempSync(join(tmpdir(), 'walkback-claude-'));
  const abortController = new AbortController();
  signal?.addEventListener('abort', () => abortController.abort(signal.reason));
  const said: string[] = [];
  const ended = (error?: unknown): Ended => ({
    modelCalls: api.modelCalls(),
    ...(error === undefined ? {} : { error }),
    told: [api.told(), ...said, String(error)].join('\n'),
  });
  try {
    const messages = sdk.query({
      prompt: 'edit',
      options: {
        env: { ...environmentFor(api, home), ...env },
        cwd: cwd ?? home,
        abortController,
        settingSources: [],
        strictMcpConfig: true,
        persistSession: false,
        mcpServers: { script: serverFor(sdk, act) },
        allowedTools: ['mcp__script__*', 'Agent'],
        ...options,
      },
    });
    for await (const message of messages) said.push(JSON.stringify(message));
    return ended();
  } catch (error) {
    return ended(error);
  } finally {
    rmSync(home, { recursive: true, force: true, maxRetries: 10 });
  }
};

const COMMON = {
  subagent: 'covered',
  noSharing: 'the host runs calls that change something one after the other, each after its own hook',
  ownMessageIds: /^[0-9a-f]{8}-[0-9a-f]{4}-/,
  // An abort ends the SDK at once and the binary when it finds out: a call that it asks for meanwhile has no hook, so it does not run.
  mostModelCalls: 3,
  noToolSignal: 'the SDK tells its tools of an abort later, when the binary has ended',
} as const;

/** The plugin as it lies in the repository, beside a cloud in this process. */
export const claudeCode = (dataDirOf: () => string): Host => ({
  ...COMMON,
  name: 'Claude Code plugin',
  play: async ({ session, onCheckpointError, ...turn }) => {
    const service = await startHookService(dataDirOf());
    const env = {
      WALKBACK_DATA: dataDirOf(),
      WALKBACK_SESSION: session.sessionId,
      WALKBACK_ON_CHECKPOINT_ERROR: onCheckpointError,
    };
    try {
      return await playClaude(turn, { env, options: { plugins: [{ type: 'local', path: PLUGIN }] } });
    } finally {
      await service.close();
    }
  },
});

export const claudeAgentSdk: Host = {
  ...COMMON,
  name: 'Claude Agent SDK',
  play: ({ session, onCheckpointError, ...turn }) =>
    playClaude(turn, { options: { hooks: checkpointHooks(session, { onCheckpointError }) } }),
};

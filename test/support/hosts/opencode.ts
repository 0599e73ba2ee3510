/** The real binary of opencode as a server, whose model is a scripted Messages API on loopback. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Host } from '../integration-conformance.ts';
import { installed } from './installed.ts';
import { serveAct } from './mcp.ts';
import { startMessagesApi } from './messages-api.ts';

const BINARY = installed('.bin/opencode');
export const isOpencodeInstalled = BINARY !== undefined;
const PLUGIN = new URL('./opencode-plugin.ts', import.meta.url).href;

const NAMES = {
  edit: 'script_edit',
  delegate: 'task',
  delegateInput: (prompt: string) => ({ description: 'edit', prompt, subagent_type: 'general' }),
};

const ended = (child: ChildProcess): Promise<void> =>
  new Promise((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null) resolve();
    child.on('exit', () => resolve());
  });

const configFor = (url: string) => ({
  model: 'anthropic/claude-sonnet-4-5',
  small_model: 'anthropic/claude-sonnet-4-5',
  provider: { anthropic: { options: { baseURL: `${url}/v1`, apiKey: 'none' } } },
  enabled_providers: ['anthropic'],
  plugin: [PLUGIN],
  permission: 'allow',
  autoupdate: false,
  share: 'disabled',
});

const environmentFor = (home: string, url: string): Record<string, string> => ({
  PATH: process.env['PATH'] ?? '',
  HOME: home,
  TMPDIR: home,
  XDG_CONFIG_HOME: join(home, 'config'),
  XDG_DATA_HOME: join(home, 'data'),
  XDG_CACHE_HOME: join(home, 'cache'),
  XDG_STATE_HOME: join(home, 'state'),
  OPENCODE_CONFIG_CONTENT: JSON.stringify(configFor(url)),
  OPENCODE_DISABLE_AUTOUPDATE: '1',
  OPENCODE_DISABLE_MODELS_FETCH: '1',
  OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
  OPENCODE_DISABLE_DEFAULT_PLUGINS: '1',
  OPENCODE_DISABLE_SHARE: '1',
  // Nothing but loopback is reached: whatever else it asks for ends at once.
  HTTP_PROXY: 'http://127.0.0.1:9',
  HTTPS_PROXY: 'http://127.0.0.1:9',
  NO_PROXY: '127.0.0.1,localhost',
});

/**
 * Before it loads a plugin, opencode installs the package of the plugins' types into its configuration directory, and asks an
 * unreachable registry for minutes. It does not where a lock file names that package already.
 */
const installNothing = (home: string): void => {
  const directory = join(home, 'config', 'opencode');
  mkdirSync(join(directory, 'node_modules'), { recursive: true });
  const lock = { packages: { '': { dependencies: { '@opencode-ai/plugin': '*' } } } };
  writeFileSync(join(directory, 'package-lock.json'), JSON.stringify(lock));
};

export const opencode = (dataDirOf: () => string): Host => ({
  name: 'opencode',
  subagent: 'covered',
  ownMessageIds: /^msg_/,
  noTurns: 'the end of a turn is an event that nobody waits for',
  noToolSignal: 'the tool is told by the host a moment later',
  mostModelCalls: 3,
  play: async ({ session, steps, act, onCheckpointError, signal }) => {
    await using api = await startMessagesApi(steps, NAMES);
    await using server = await serveAct(act);
    const home = mkdtempSync(join(tmpdir(), 'walkback-opencode-'));
    installNothing(home);
    const env = {
      ...environmentFor(home, api.url),
      ACT_URL: server.url,
      ON_CHECKPOINT_ERROR: onCheckpointError,
      WALKBACK_DATA: dataDirOf(),
      WALKBACK_SESSION: session.sessionId,
    };
    const child = spawn(BINARY ?? '', ['serve', '--port', '0', '--print-logs'], {
      cwd: home,
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let log = '';
    child.stderr.on('data', (chunk: Buffer) => (log += chunk.toString()));
    const told = (more: string) => [api.told(), more, log.slice(-4000)].join('\n');
    try {
      const url = await new Promise<string>((resolve, reject) => {
        createInterface({ input: child.stdout }).on('line', (line) => {
          const found = /http:\/\/[\d.]+:\d+/.exec(line);
          if (found) resolve(found[0]);
        });
        child.on('exit', () => reject(new Error(`opencode ended: ${log}`)));
      });
      const post = async (path: string, body: object): Promise<Response> =>
        fetch(`${url}${path}`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify(body),
        });
      const made: { id: string } = JSON.parse(await (await post('/session', {})).text());
      signal?.addEventListener('abort', () => {
        // The turn may be over before opencode has answered this, and opencode with it.
        post(`/session/${made.id}/abort`, {}).catch(() => undefined);
      });
      const answer = await post(`/session/${made.id}/message`, { parts: [{ type: 'text', text: 'edit' }] });
      return { modelCalls: api.modelCalls(), told: told(await answer.text()) };
    } catch (error) {
      return { modelCalls: api.modelCalls(), error, told: told(String(error)) };
    } finally {
      child.kill();
      await ended(child);
      rmSync(home, { recursive: true, force: true, maxRetries: 10 });
    }
  },
});

/** Claude Code's own binary, by its Agent SDK. `npm run hosts` installs it. */
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { TimelineAnswer } from '../../contract/checkpoint-answers.ts';
import { openCliScene } from '../support/cli.ts';
import { createWork } from '../support/cli-work.ts';
import { openClientWorld } from '../support/client-world.ts';
import {
  claudeAgentSdk,
  claudeCode,
  isClaudeInstalled,
  PLUGIN,
  playClaude,
} from '../support/hosts/claude.ts';
import { conformance, edit } from '../support/integration-conformance.ts';
import { shared } from '../support/shared.ts';

const world = shared(openClientWorld);
const HOSTS = [claudeAgentSdk, claudeCode(() => world().cloud.dataDir)];

describe.skipIf(!isClaudeInstalled).each(HOSTS)('$name', (host) => conformance(host, world));

test.skipIf(!isClaudeInstalled)(
  'the plugin starts the cloud that is not there, and makes its own session',
  async () => {
    await using scene = await openCliScene({ WALKBACK_DAEMON: 'on' });
    const { work, dataDir, json } = scene;
    await createWork(work);
    rmSync(dataDir, { recursive: true, force: true });
    const { error, told } = await playClaude(
      { steps: [[edit('call-1')]], act: async () => 'edited' },
      {
        cwd: work,
        env: { WALKBACK_DATA: dataDir },
        options: {
          plugins: [{ type: 'local', path: PLUGIN }],
          sessionId: '30c16b05-1b30-4f88-bbef-cc61ade35250',
        },
      },
    );
    try {
      expect(error, told).toBeUndefined();
      const session = 'claude-30c16b05-1b30-4f88-bbef-cc61ade35250';
      const { checkpoints } = await json(['log', '--session', session]);
      expect(checkpoints).toMatchObject([
        { reason: 'after-turn' },
        { reason: 'before-tool: mcp__script__edit', toolExecutionId: 'call-1' },
        { reason: 'baseline' },
      ]);
      expect(readFileSync(join(dataDir, 'hooks.curl'), 'utf8')).toContain('Bearer ');
    } finally {
      await json(['down']);
    }
  },
);

test.skipIf(!isClaudeInstalled)(
  'in an empty scratch directory without git, the plugin captures what the agent wrote, and it goes back',
  async () => {
    await using scene = await openCliScene({ WALKBACK_DAEMON: 'on' });
    await using scratch = await mkdtempDisposable(join(tmpdir(), 'walkback-scratch-'));
    const { dataDir, json } = scene;
    const file = join(scratch.path, 'notes.txt');
    const { error, told } = await playClaude(
      {
        steps: [[edit('call-1')], [edit('call-2')]],
        act: async ({ id }) => {
          writeFileSync(file, id);
          return 'edited';
        },
      },
      {
        cwd: scratch.path,
        env: { WALKBACK_DATA: dataDir },
        options: {
          plugins: [{ type: 'local', path: PLUGIN }],
          sessionId: '7d1f6a52-8a2b-4c1e-9a43-0f5c2f1f9b11',
        },
      },
    );
    try {
      expect(error, told).toBeUndefined();
      const session = ['--session', 'claude-7d1f6a52-8a2b-4c1e-9a43-0f5c2f1f9b11'];
      const { checkpoints } = (await json(['log', ...session])) as unknown as TimelineAnswer;
      const before = checkpoints.find(({ toolExecutionId }) => toolExecutionId === 'call-2');
      expect(before).toMatchObject({ repositories: [{ path: '.' }] });
      expect(readFileSync(file, 'utf8')).toBe('call-2');
      await json(['rollback', '--to', before?.checkpointId ?? '', '--yes', ...session]);
      expect(readFileSync(file, 'utf8')).toBe('call-1');
    } finally {
      await json(['down']);
    }
  },
);

test.skipIf(!isClaudeInstalled).each([
  ['block', []],
  ['warn', ['call-1']],
])('%s: the plugin where the cloud cannot start', async (mode, expected) => {
  const ran: string[] = [];
  const { told } = await playClaude(
    {
      steps: [[edit('call-1')]],
      act: async ({ id }) => {
        ran.push(id);
        return 'edited';
      },
    },
    {
      env: { WALKBACK_DATA: '/dev/null/data', WALKBACK_ON_CHECKPOINT_ERROR: mode },
      options: { plugins: [{ type: 'local', path: PLUGIN }] },
    },
  );
  expect(ran, told).toEqual(expected);
});

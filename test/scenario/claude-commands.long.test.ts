/** The plugin as a new person meets it: installed by Claude Code itself, with nothing of Walkback on PATH. */
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { openCliScene } from '../support/cli.ts';
import { createWork } from '../support/cli-work.ts';
import { PLUGIN } from '../support/hosts/claude.ts';
import {
  isBinaryInstalled,
  openClaudeHome,
  shell,
  startShellScript,
} from '../support/hosts/claude-binary.ts';

const ID = '30c16b05-1b30-4f88-bbef-cc61ade35251';
const PROMPT = 'Rewrite the file, please';

/** The Node that runs the tests, and what every machine has. */
const PATH = `${dirname(process.execPath)}:/usr/bin:/bin`;

const openScene = async () => {
  await using opening = new AsyncDisposableStack();
  const scene = opening.use(await openCliScene({ WALKBACK_DAEMON: 'on' }));
  const { work, dataDir } = scene;
  await createWork(work);
  rmSync(dataDir, { recursive: true, force: true });
  const host = opening.use(openClaudeHome({ PATH, WALKBACK_DATA: dataDir }));
  opening.defer(async () => void (await scene.run(['down'])));
  await host.claude(['plugin', 'marketplace', 'add', PLUGIN]);
  await host.claude(['plugin', 'install', 'walkback@walkback']);
  const disposal = opening.move();
  return { ...scene, ...host, [Symbol.asyncDispose]: () => disposal.disposeAsync() };
};

test.skipIf(!isBinaryInstalled)(
  'installed from its directory, /walkback:undo and /walkback:redo work without the model and without a question',
  async () => {
    await using scene = await openScene();
    const { work, claude, json } = scene;
    const file = join(work, 'api/file.txt');
    writeFileSync(file, 'as it was\n');
    const script = `printf 'of the agent\\n' > ${file}`;
    await using api = await startShellScript([[shell('toolu_1', script)]]);
    const said = await claude(['-p', PROMPT, '--session-id', ID, '--allowedTools', 'Bash'], {
      cwd: work,
      api,
    });
    expect(readFileSync(file, 'utf8'), said).toBe('of the agent\n');
    const { checkpoints, messages } = await json(['log', '--session', `claude-${ID}`]);
    expect(messages).toMatchObject([{ title: PROMPT }]);
    expect(checkpoints).toMatchObject([
      { reason: 'after-turn' },
      { reason: 'before-tool: Bash', toolExecutionId: 'toolu_1' },
      { reason: 'baseline' },
    ]);
    const asked = api.modelCalls();
    const command = (text: string) => claude(['-p', '--resume', ID, text], { cwd: work, api });

    const plan = await command('/walkback:undo');
    expect(plan).toContain(`“${PROMPT}”`);
    expect(plan).toContain('~ file.txt');
    expect(readFileSync(file, 'utf8')).toBe('of the agent\n');
    // The host has started anew in between, but not the cloud, which knows the plan.
    expect(await command('/walkback:undo yes')).toContain('Back at the beginning');
    expect(readFileSync(file, 'utf8')).toBe('as it was\n');
    expect(await command('/walkback:redo')).toContain('Back at');
    expect(readFileSync(file, 'utf8')).toBe('of the agent\n');
    expect(await command('/walkback:rewind')).toMatch(/cp-1 /);
    expect(api.modelCalls(), 'no model was asked').toBe(asked);
    const after = await json(['log', '--session', `claude-${ID}`]);
    const undoPoints = { reason: 'rollback' };
    expect(after['checkpoints'], 'what lists and plans takes no checkpoint').toMatchObject([
      undoPoints,
      undoPoints,
      { reason: 'after-turn' },
      { reason: 'before-tool: Bash' },
      { reason: 'baseline' },
    ]);
  },
);

test.skipIf(!isBinaryInstalled)(
  'where no hook answers, the skill shows the list, and the model needs no permission to do it',
  async () => {
    await using scene = await openScene();
    const { work, claude, json, text } = scene;
    const file = join(work, 'api/file.txt');
    writeFileSync(file, 'as it was\n');
    await json(['session', 'start', '--root', work, '--id', `claude-${ID}`]);
    writeFileSync(file, 'of the agent\n');
    await text(['checkpoint', '--session', `claude-${ID}`, '--message', 'msg-1']);
    // A newer session on the same directory is not that of the conversation.
    await json(['session', 'start', '--root', work, '--id', 'other']);
    const words = `"${PLUGIN}/bin/walkback" rollback --to cp-1 --yes`;
    await using api = await startShellScript([[shell('toolu_1', words)]]);
    const answer = JSON.parse(
      await claude(
        [
          '-p',
          '--session-id',
          ID,
          '--settings',
          '{"disableAllHooks":true}',
          '--output-format',
          'json',
          '/walkback:undo cp-1',
        ],
        { cwd: work, api },
      ),
    );
    expect(answer).toMatchObject({ is_error: false, permission_denials: [] });
    expect(api.told(), 'the list is in the prompt').toMatch(/cp-2 .*msg-1/);
    expect(readFileSync(file, 'utf8'), api.told()).toBe('as it was\n');
  },
);

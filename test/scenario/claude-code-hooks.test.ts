/** The plugin's script, as Claude Code runs it, against the hooks of a cloud. The binary itself is in claude.long.test.ts. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type HookService, startHookService } from '../../cli/hooks/service.ts';
import { isReadOnly } from '../../client/classify.ts';
import { userName } from '../../kit/machine-user.ts';
import manifest from '../../package.json' with { type: 'json' };
import { openClientWorld } from '../support/client-world.ts';
import { scriptOf } from '../support/hosts/claude-script.ts';
import { sampledTest } from '../support/sampled-test.ts';
import { shared } from '../support/shared.ts';

const sampled = sampledTest('claude-code-hooks', 4);

const PLUGIN = join(import.meta.dirname, '../../integrations/claude-code');
const world = shared(openClientWorld);
let service: HookService;
beforeAll(async () => {
  service = await startHookService(world().cloud.dataDir);
});
afterAll(() => service.close());

const restart = async () => {
  await service.close();
  service = await startHookService(world().cloud.dataDir);
};

const say = scriptOf(world);
/** The tool runs, and nobody is told anything. */
const GOES_ON = { code: 0, stdout: '{}\n' };

const bash = (id: string, prompt: string) => ({
  tool_use_id: id,
  prompt_id: prompt,
  tool_name: 'Bash',
  tool_input: { command: `make "${id}"\n` },
});

test('a session of its own, a checkpoint before each tool, and one at the end of each turn', async () => {
  expect(await say('Stop', { prompt_id: 'p1' })).toMatchObject(GOES_ON);
  expect(await say('PreToolUse', bash('call-1', 'p1'))).toMatchObject(GOES_ON);
  const session = await world().walkback.sessions.get('claude-one');
  world().write('api/file.txt', 'of the agent\n');
  await say('PostToolUse', bash('call-1', 'p1'));
  await say('PostToolUse', bash('missed', 'p1'));
  expect(await say('Stop', { prompt_id: 'p1' })).toMatchObject(GOES_ON);
  const { checkpoints } = await session.timeline();
  expect(checkpoints.map(({ reason }) => reason)).toEqual([
    'after-turn',
    'late: Bash had run',
    'before-tool: Bash',
    'baseline',
  ]);
  expect(checkpoints[0]?.messageId).toBe('p1');

  await session.rollback({
    to: checkpoints.find(({ toolExecutionId }) => toolExecutionId === 'call-1')?.checkpointId ?? '',
  });
  expect(world().read('api/file.txt')).toBe('as it was\n');
  const stopped = JSON.parse((await say('PreToolUse', bash('call-2', 'p1'))).stdout);
  expect(stopped).toMatchObject({ continue: false, hookSpecificOutput: { permissionDecision: 'deny' } });
  expect(stopped.stopReason).toContain('StaleEpoch');
  // The person's next prompt knows of the rollback.
  expect(await say('PreToolUse', bash('call-3', 'p2'))).toMatchObject(GOES_ON);

  await session.end();
  expect(await say('PreToolUse', bash('call-4', 'p3'))).toMatchObject(GOES_ON);
  await (await world().walkback.sessions.get('claude-one-2')).end();
});

test('in a scratch directory without git, files are captured and rolled back', async () => {
  const scratch = mkdtempSync(join(tmpdir(), 'walkback-scratch-'));
  try {
    const env = { CLAUDE_PROJECT_DIR: scratch };
    const file = join(scratch, 'notes.txt');
    const call = (id: string, text: string) => ({ session_id: 'scratch', cwd: scratch, ...bash(id, text) });
    expect(await say('PreToolUse', call('call-1', 'p1'), env)).toMatchObject(GOES_ON);
    writeFileSync(file, 'one\n');
    await say('PostToolUse', call('call-1', 'p1'), env);
    expect(await say('PreToolUse', call('call-2', 'p2'), env)).toMatchObject(GOES_ON);
    writeFileSync(file, 'two\n');
    await say('PostToolUse', call('call-2', 'p2'), env);
    const session = await world().walkback.sessions.get('claude-scratch');
    await session.rollback({ to: 'p1' });
    expect(readFileSync(file, 'utf8')).toBe('one\n');
    await session.end();
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
});

sampled(
  'a prompt that was cut has its work, also when the cloud was started again',
  async () => {
    const turn = async (prompt: string, isCut = false) => {
      await say('PreToolUse', { session_id: 'cut', ...bash(`call-of-${prompt}`, prompt) });
      world().write('api/file.txt', prompt);
      await say('PostToolUse', { session_id: 'cut', ...bash(`call-of-${prompt}`, prompt) });
      if (!isCut) await say('Stop', { session_id: 'cut', prompt_id: prompt });
    };
    await turn('p1');
    await turn('p2', true);
    await restart();
    await turn('p3', true);
    await turn('p4');
    const session = await world().walkback.sessions.get('claude-cut');
    for (const prompt of ['p1', 'p2', 'p3', 'p4']) {
      await session.rollback({ to: prompt });
      expect(world().read('api/file.txt')).toBe(prompt);
      await session.undo();
    }
    await session.rollback({ to: (await session.timeline()).checkpoints.at(-1)?.checkpointId ?? '' });
    await session.end();
  },
  { timeout: 120_000 },
);

sampled(
  'after a rollback the prompts of before are refused, until there is a new one',
  async () => {
    const ask = (event: string, id: string, prompt: string) =>
      say(event, { session_id: 'old', ...bash(id, prompt) });
    const isRefused = async (id: string, prompt: string) =>
      JSON.parse((await ask('PreToolUse', id, prompt)).stdout).continue === false;
    expect(await isRefused('t1', 'p1')).toBe(false);
    await say('Stop', { session_id: 'old', prompt_id: 'p1' });
    expect(await isRefused('t2', 'p2')).toBe(false);
    expect(await isRefused('t3', 'p1'), 'background work goes on under its own prompt').toBe(false);
    const session = await world().walkback.sessions.get('claude-old');
    await session.rollback({ to: 'p1' });
    for (const [id, prompt] of [
      ['t4', 'p2'],
      ['t2', 'p2'],
      ['t5', 'p1'],
      ['t6', 'p2'],
    ] as const)
      expect(await isRefused(id, prompt), `${id} of ${prompt}`).toBe(true);
    expect(await isRefused('t2', 'p3'), 'an id that was used before').toBe(false);
    expect(await isRefused('t7', 'p1')).toBe(true);
    expect(await isRefused('t8', 'p3')).toBe(false);
    await session.end();
  },
  { timeout: 120_000 },
);

sampled(
  'a restart of the cloud forgets neither which prompts a rollback ended, nor the end of a turn',
  async () => {
    const ask = async (event: string, id: string, prompt: string) =>
      JSON.parse((await say(event, { session_id: 'again', ...bash(id, prompt) })).stdout);
    await ask('PreToolUse', 't1', 'p1');
    world().write('api/file.txt', 'of p1');
    await restart();
    await say('Stop', { session_id: 'again', prompt_id: 'p1' });
    const session = await world().walkback.sessions.get('claude-again');
    const { checkpoints } = await session.timeline();
    expect(checkpoints[0]).toMatchObject({ reason: 'after-turn', messageId: 'p1' });
    await session.rollback({ to: checkpoints.at(-1)?.checkpointId ?? '' });
    await restart();
    for (const id of ['t2', 't1'])
      expect(await ask('PreToolUse', id, 'p1'), id).toMatchObject({
        continue: false,
        hookSpecificOutput: { permissionDecision: 'deny' },
      });
    expect(await ask('PreToolUse', 't3', 'p2')).toEqual({});
    await restart();
    expect(await ask('PreToolUse', 't4', 'p2')).toEqual({});
    await session.end();
    // What goes on in another session was not rolled back there.
    await restart();
    expect(await ask('PreToolUse', 't5', 'p2')).toEqual({});
    await (await world().walkback.sessions.get('claude-again-2')).end();
  },
);

sampled('what the person wrote is not lost when the cloud ends before the first tool', async () => {
  const text = `Fix the rounding.\n${'It is one cent too much. '.repeat(10)}`;
  const prompts = () => readFileSync(join(world().cloud.dataDir, 'hooks.json'), 'utf8');
  const submitted = await say('UserPromptSubmit', { session_id: 'told', prompt_id: 'p1', prompt: text });
  expect(submitted).toMatchObject(GOES_ON);
  // Durable by then, and in a file of the person only.
  expect(prompts()).toContain('It is one cent too much.');
  expect(statSync(join(world().cloud.dataDir, 'hooks.json')).mode & 0o077).toBe(0);
  await restart();
  // A read takes no checkpoint, so the text stays.
  const read = { ...bash('r1', 'p1'), tool_name: 'Read', tool_input: {} };
  await say('PreToolUse', { session_id: 'told', ...read });
  await restart();
  await say('PreToolUse', { session_id: 'told', ...bash('t1', 'p1') });
  world().write('api/file.txt', 'rounded');
  await say('Stop', { session_id: 'told', prompt_id: 'p1' });
  const session = await world().walkback.sessions.get('claude-told');
  const { messages } = await session.timeline();
  expect(messages).toContainEqual(expect.objectContaining({ messageId: 'p1', title: 'Fix the rounding.' }));
  const { checkpoints } = await session.changes({ messageId: 'p1' });
  expect(checkpoints.map(({ message }) => message?.text)).toContain(text);
  // Once the checkpoint has it, it is kept nowhere else.
  expect(prompts()).not.toContain('one cent');
  await session.end();
});

sampled('where prompts began cannot be kept: the person is told once, and the tools run', async () => {
  const ask = async (event: string, id: string, prompt: string) =>
    JSON.parse((await say(event, { session_id: 'unkept', ...bash(id, prompt) })).stdout);
  const file = join(world().cloud.dataDir, 'hooks.json');
  await restart();
  rmSync(file, { force: true });
  // Nothing is written over a directory, whoever tries.
  mkdirSync(file);
  try {
    const first = await ask('PreToolUse', 't1', 'p1');
    expect(Object.keys(first)).toEqual(['systemMessage']);
    expect(first.systemMessage).toMatch(
      /^Walkback: Where prompts began cannot be kept in .*hooks\.json, so after a restart/,
    );
    expect(first.systemMessage.split('\n')).toHaveLength(1);
    expect(await ask('PreToolUse', 't2', 'p1')).toEqual({});
    expect(await ask('PreToolUse', 't3', 'p2')).toEqual({});
    // As long as the service knows them itself, a rollback ends prompts all the same.
    const session = await world().walkback.sessions.get('claude-unkept');
    await session.rollback({ to: (await session.timeline()).checkpoints.at(-1)?.checkpointId ?? '' });
    expect(await ask('PreToolUse', 't4', 'p2')).toMatchObject({ continue: false });
    await session.end();
  } finally {
    rmSync(file, { recursive: true });
    await restart();
  }
});

sampled(
  'a prompt that goes on after its end has another end, and what ran unasked is its own work',
  async () => {
    const ask = (event: string, id: string) => say(event, { session_id: 'on', ...bash(id, 'p2') });
    await say('PreToolUse', { session_id: 'on', ...bash('t0', 'p1') });
    world().write('api/file.txt', 'of p1');
    await say('Stop', { session_id: 'on', prompt_id: 'p1' });
    world().write('api/file.txt', 'unasked');
    await ask('PostToolUse', 'missed');
    const session = await world().walkback.sessions.get('claude-on');
    expect((await session.timeline()).checkpoints[0]).toMatchObject({
      reason: 'late: Bash had run',
      messageId: 'p2',
    });
    for (const text of ['one', 'two']) {
      await ask('PreToolUse', `call-${text}`);
      world().write('api/file.txt', text);
      await say('Stop', { session_id: 'on', prompt_id: 'p2' });
      await say('Stop', { session_id: 'on', prompt_id: 'p2' });
    }
    world().write('api/file.txt', 'later');
    await session.rollback({ to: 'p2' });
    expect(world().read('api/file.txt')).toBe('two');
    const { checkpoints } = await session.timeline();
    expect(checkpoints.filter(({ reason }) => reason === 'after-turn')).toHaveLength(3);
    await session.rollback({ to: 'p1' });
    expect(world().read('api/file.txt')).toBe('of p1');
    await session.rollback({ to: checkpoints.at(-1)?.checkpointId ?? '' });
    await session.end();
  },
  { timeout: 120_000 },
);

sampled(
  'a host that names neither prompts nor calls: each tool has its checkpoint, and each turn its end',
  async () => {
    const nameless = { session_id: 'nameless', tool_name: 'Bash', tool_input: null, prompt_id: null };
    for (const turn of ['one', 'two']) {
      for (const tool of ['a', 'b']) {
        expect(await say('PreToolUse', nameless)).toMatchObject(GOES_ON);
        world().write('api/file.txt', `${turn} ${tool}\n`);
        expect(await say('PostToolUse', nameless)).toMatchObject(GOES_ON);
      }
      expect(await say('Stop', nameless)).toMatchObject(GOES_ON);
    }
    const session = await world().walkback.sessions.get('claude-nameless');
    const { checkpoints, messages } = await session.timeline();
    const turn = ['after-turn', 'before-tool: Bash', 'before-tool: Bash'];
    expect(checkpoints.map(({ reason }) => reason)).toEqual([...turn, ...turn, 'baseline']);
    expect(messages).toHaveLength(2);
    await session.rollback({ to: checkpoints[1]?.checkpointId ?? '' });
    expect(world().read('api/file.txt')).toBe('two a\n');
    await session.rollback({ to: checkpoints.at(-1)?.checkpointId ?? '' });
    await session.end();
  },
);

test.each([
  ['a session without an id', { session_id: '' }, {}, /session_id/],
  ['a mode that is not there', {}, { WALKBACK_ON_CHECKPOINT_ERROR: 'warning' }, /must be block or warn/],
])('%s: the tool does not run, and the reason is told', async (_name, input, env, reason) => {
  const { code, stdout } = await say('PreToolUse', { ...bash('call-1', 'p1'), ...input }, env);
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({
    systemMessage: expect.stringMatching(reason),
    hookSpecificOutput: {
      permissionDecision: 'deny',
      permissionDecisionReason: expect.stringMatching(reason),
    },
  });
});

const UNREADABLE: [string, object, Record<string, string>][] = [
  ['a mode in capitals', {}, { WALKBACK_ON_CHECKPOINT_ERROR: 'Warn' }],
  ['a session without an id', { session_id: '' }, {}],
];
const TOLD_UNREADABLE = {
  systemMessage: expect.stringMatching(/^Walkback: No checkpoint, because Walkback cannot read/),
};
for (const event of ['PostToolUse', 'PostToolUseFailure', 'Stop'])
  test.each(UNREADABLE)(
    `${event}, and %s: no tool waits, so the person alone is told`,
    async (_name, input, env) => {
      const { code, stdout } = await say(event, { ...bash('call-1', 'p1'), ...input }, env);
      expect([code, JSON.parse(stdout)]).toEqual([0, TOLD_UNREADABLE]);
    },
  );

/** What names no event. */
const EVENTLESS = ['[]', 'null', '', 'not JSON', '{"session_id":"one"}', '{"hook_event_name":7}'];
test.each(EVENTLESS)('%j as input: the script knows of which event it is', async (input) => {
  const stop = await say('Stop', input);
  expect([stop.code, JSON.parse(stop.stdout)]).toEqual([0, TOLD_UNREADABLE]);
  const before = await say('PreToolUse', input);
  expect(JSON.parse(before.stdout)).toMatchObject({ hookSpecificOutput: { permissionDecision: 'deny' } });
});

/** Where the script asks, and with what. */
const asksBy = () => {
  const file = join(world().cloud.dataDir, 'hooks.curl');
  const config = readFileSync(file, 'utf8');
  const said = (line: RegExp) => line.exec(config)?.[1] ?? '';
  return { file, config, url: said(/^url = "(.*)"$/m), authorization: said(/"authorization: (.*)"$/m) };
};

test('a request that names no event: what cannot be read keeps the tool from running', async () => {
  const { url, authorization } = asksBy();
  const body = [world().root, '', 'block', '[]'].join('\0');
  const answer = await fetch(url, { method: 'POST', headers: { authorization }, body });
  expect(await answer.json()).toMatchObject({ hookSpecificOutput: { permissionDecision: 'deny' } });
});

test('warn: a session without an id is told, and the tool runs', async () => {
  const env = { WALKBACK_ON_CHECKPOINT_ERROR: 'warn' };
  const { code, stdout } = await say('PreToolUse', { ...bash('call-1', 'p1'), session_id: '' }, env);
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toEqual({ systemMessage: expect.stringMatching(/session_id/) });
});

sampled('a session that went on elsewhere is not the one of this directory', async () => {
  const { walkback, root } = world();
  const first = { session_id: 'moved', ...bash('call-1', 'p1') };
  expect(await say('PreToolUse', first)).toMatchObject(GOES_ON);
  const session = await walkback.sessions.get('claude-moved');
  await session.rehydrate({ mode: 'resume' });
  await expect(walkback.sessions.start({ root, sessionId: session.sessionId })).rejects.toMatchObject({
    name: 'SessionConflict',
    message: expect.stringContaining(root),
  });
  world().write('api/file.txt', 'after it moved\n');
  expect(await say('PreToolUse', { session_id: 'moved', ...bash('call-2', 'p2') })).toMatchObject({
    code: 0,
  });
  const next = await walkback.sessions.get('claude-moved-2');
  const [before] = (await next.timeline()).checkpoints;
  world().write('api/file.txt', 'of the tool\n');
  await next.rollback({ to: before?.checkpointId ?? '' });
  expect(world().read('api/file.txt')).toBe('after it moved\n');
  world().write('api/file.txt', 'as it was\n');
  await next.end();
  await session.end();
});

test.each([
  ['block', { hookSpecificOutput: { permissionDecision: 'deny' } }],
  [
    'warn',
    {
      systemMessage: expect.stringMatching(
        /^Walkback: No checkpoint, and the tool runs .*ProjectsRootNotFound/,
      ),
    },
  ],
])('%s: a directory that is not there', async (mode, answer) => {
  const env = { CLAUDE_PROJECT_DIR: '/nonexistent/project', WALKBACK_ON_CHECKPOINT_ERROR: mode };
  const { code, stdout } = await say('PreToolUse', bash('call-1', 'p1'), env);
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject(answer);
});

const UNREACHED = 'Walkback: no checkpoint. The embedded cloud did not start';

test('block: without a cloud that answers the tool does not run', async () => {
  const env = { WALKBACK_DATA: '/nonexistent/data', WALKBACK_ON_CHECKPOINT_ERROR: 'block' };
  const { code, stderr } = await say('PreToolUse', bash('call-1', 'p1'), env);
  expect(code).toBe(2);
  expect(stderr).toContain(UNREACHED);
});

test.each([
  // Whatever ends with another number than 0 keeps the tool from running.
  ['warn', 'PreToolUse'],
  // There it would keep the agent going for ever.
  ['block', 'Stop'],
])('%s: %s without a cloud that answers is told to the person', async (mode, event) => {
  const env = {
    WALKBACK_DATA: '/nonexistent/"a\\b"\n',
    WALKBACK_ON_CHECKPOINT_ERROR: mode,
    WALKBACK_COMMAND: '/nonexistent/"a\\b"\n',
  };
  const { code, stdout, stderr } = await say(event, bash('call-1', 'p1'), env);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  const answer = JSON.parse(stdout);
  expect(Object.keys(answer)).toEqual(['systemMessage']);
  expect(answer.systemMessage).toContain(UNREACHED);
  expect(answer.systemMessage).toContain('"a\\b"');
});

test.skipIf(userName() === undefined).each([
  ['without HOME', undefined],
  ['with an empty HOME', ''],
])('%s the data directory is that of the command', async (_name, home) => {
  const tools = mkdtempSync(join(tmpdir(), 'walkback-hook-'));
  const program = (name: string, text: string) =>
    writeFileSync(join(tools, name), `#!/bin/bash\n${text}\n`, { mode: 0o755 });
  // Whatever cloud this person runs is not asked, and none is started.
  program('curl', 'exit 7');
  program('walkback', 'echo "$@" >&2; exit 1');
  try {
    const { code, stderr } = await say('PreToolUse', bash('call-1', 'p1'), {
      PATH: `${tools}:${process.env['PATH']}`,
      HOME: home,
      XDG_STATE_HOME: undefined,
      WALKBACK_DATA: undefined,
      WALKBACK_COMMAND: join(tools, 'walkback'),
    });
    expect(code).toBe(2);
    expect(stderr).toContain(`--data ${join(userInfo().homedir, '.local/state/walkback')}\n`);
  } finally {
    rmSync(tools, { recursive: true });
  }
});

test('the token is in a file of the person only, and a file of a process that has ended is not used', async () => {
  const { file, config: before, url, authorization } = asksBy();
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect((await fetch(url, { method: 'POST', body: 'x' })).status).toBe(401);
  const asWebPage = { authorization, origin: 'https://example.com' };
  expect((await fetch(url, { method: 'POST', headers: asWebPage, body: 'x' })).status).toBe(403);
  expect((await fetch(url, { method: 'POST', headers: { authorization }, body: 'x' })).status).toBe(400);
  try {
    writeFileSync(file, before.replace(/^# \d+ \d+/, `# ${process.pid} 1`));
    expect((await say('PreToolUse', bash('call-9', 'p1'))).code).toBe(2);
  } finally {
    writeFileSync(file, before);
  }
});

describe.each([
  ['darwin24', 'arm64', /^Walkback needs Linux on x64, and this is darwin24\. /],
  ['linux-gnu', 'aarch64', /^Walkback lacks its embedded database \(dynoxide\) on aarch64: /],
])('on %s on %s', (OSTYPE, HOSTTYPE, sentence) => {
  // bash takes both from its environment before it begins.
  const env = { OSTYPE, HOSTTYPE };

  test('the plugin says so in one line, and no tool runs', async () => {
    const begun = await say('SessionStart', {}, env);
    expect(begun.code).toBe(0);
    expect(JSON.parse(begun.stdout).systemMessage).toMatch(sentence);
    const tool = await say('PreToolUse', bash('call-1', 'p1'), env);
    expect(tool).toMatchObject({ code: 2, stdout: '' });
    expect(tool.stderr.replace('Walkback: no checkpoint. ', '')).toMatch(sentence);
    expect(await say('UserPromptSubmit', { prompt: 'go' }, env)).toEqual({ code: 0, stdout: '', stderr: '' });
    const own = spawnSync(join(PLUGIN, 'bin/walkback'), ['log'], {
      env: { PATH: process.env['PATH'], ...env },
      encoding: 'utf8',
    });
    expect(own).toMatchObject({ status: 7, stdout: '', stderr: expect.stringMatching(sentence) });
  });
});

test('with a build of the database for this machine, the plugin asks as usual', async () => {
  const env = { HOSTTYPE: 'aarch64', WALKBACK_DYNOXIDE: '/opt/dynoxide' };
  expect(await say('PreToolUse', { ...bash('call-1', 'p1'), session_id: 'arm' }, env)).toEqual({
    ...GOES_ON,
    stderr: '',
  });
  await (await world().walkback.sessions.get('claude-arm')).end();
});

test('the skills run the program of the plugin and no other', () => {
  for (const name of ['undo', 'rewind', 'redo']) {
    const skill = readFileSync(join(PLUGIN, `skills/${name}/SKILL.md`), 'utf8');
    // What is run stands behind a backtick, or is allowed.
    const runs = [...skill.matchAll(/(?:`|Bash\()(\S*walkback"?) /g)].map(([, program]) => program);
    expect(runs.length).toBeGreaterThan(1);
    expect(new Set(runs), name).toEqual(new Set(['"${CLAUDE_PLUGIN_ROOT}/bin/walkback"']));
  }
});

test('the plugin has the version of the project', () => {
  const plugin = JSON.parse(readFileSync(join(PLUGIN, '.claude-plugin/plugin.json'), 'utf8'));
  expect(plugin).toMatchObject({ name: 'walkback', version: manifest.version });
});

test('the tools that the plugin does not ask about are reads', () => {
  const { hooks } = JSON.parse(readFileSync(join(PLUGIN, 'hooks/hooks.json'), 'utf8'));
  const matcher: string = hooks.PreToolUse[0].matcher;
  const names = /\(\?:(.*)\)\$\)$/.exec(matcher)?.[1]?.split('|') ?? [];
  expect(names.length).toBeGreaterThan(8);
  const texts = ['file_path', 'notebook_path', 'pattern', 'path', 'url', 'query', 'bash_id', 'task_id'];
  const input = { ...Object.fromEntries(texts.map((name) => [name, 'a'])), todos: [], questions: [] };
  for (const name of names) {
    expect(isReadOnly(name, input), name).toBe(true);
    expect(new RegExp(matcher).test(name)).toBe(false);
    expect(new RegExp(matcher).test(`${name}2`), name).toBe(true);
  }
  for (const name of ['Bash', 'Edit', 'Write', 'Agent', 'mcp__x__Read'])
    expect(new RegExp(matcher).test(name)).toBe(true);
  expect(hooks.PostToolUse[0].matcher).toBe(matcher);
});

/** The commands of the plugin, answered by its hook, and the prompts that it records. The real host is in claude.long.test.ts. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, vi } from 'vitest';
import { startHookService } from '../../cli/hooks/service.ts';
import { createPaint } from '../../cli/terminal/terminal.ts';
import { timelineText } from '../../cli/view/timeline-print.ts';
import { openClientWorld } from '../support/client-world.ts';
import { scriptOf } from '../support/hosts/claude-script.ts';
import { inTurn } from '../support/sampled-test.ts';
import { shared } from '../support/shared.ts';

const test = inTurn('claude-code-commands');

const world = shared(openClientWorld);
shared(() => startHookService(world().cloud.dataDir));

const script = scriptOf(world);

let conversations = 0;
let id: string;
beforeEach(() => {
  conversations += 1;
  id = `conversation${conversations}`;
  world().write('api/file.txt', 'as it was\n');
  world().write('web/file.txt', 'as it was\n');
});

const say = async (event: string, input: object): Promise<Record<string, unknown>> => {
  const { code, stdout, stderr } = await script(event, { session_id: id, ...input });
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return JSON.parse(stdout);
};

const edit = (prompt: string, call: string) => ({
  prompt_id: prompt,
  tool_use_id: call,
  tool_name: 'Edit',
  tool_input: { file_path: 'file.txt' },
});

interface Work {
  prompt: string;
  text: string;
  path: string;
  content: string;
  isCut?: boolean;
}

const turn = async ({ prompt, text, path, content, isCut = false }: Work): Promise<void> => {
  expect(await say('UserPromptSubmit', { prompt_id: prompt, prompt: text })).toEqual({});
  expect(await say('PreToolUse', edit(prompt, `call-of-${prompt}`))).toEqual({});
  world().write(path, content);
  expect(await say('PostToolUse', edit(prompt, `call-of-${prompt}`))).toEqual({});
  if (!isCut) expect(await say('Stop', { prompt_id: prompt })).toEqual({});
};

const P1 = '6f2db523-39cd-4e70-85ad-54ab9ccafb41';
const P2 = '6f2db523-39cd-4e70-85ad-54ab9ccafb42';
const P3 = '6f2db523-39cd-4e70-85ad-54ab9ccafb43';

/** What the person reads. */
const command = async (name: string, args = ''): Promise<string> => {
  const prompt = `/walkback:${name} ${args}`.trim();
  expect(await say('UserPromptSubmit', { prompt_id: `of-${name}`, prompt })).toEqual({});
  const answer = await say('UserPromptExpansion', {
    prompt_id: `of-${name}`,
    expansion_type: 'slash_command',
    command_name: `walkback:${name}`,
    command_args: args,
    prompt,
  });
  expect(answer).toEqual({ decision: 'block', reason: expect.any(String) });
  return String(answer['reason']);
};

const sessionOf = () => world().walkback.sessions.get(`claude-${id}`);
const countOf = async () => (await (await sessionOf()).timeline()).checkpoints.length;

test('undo shows what the person wrote and the plan, takes no checkpoint for it, and goes back on yes', async () => {
  await turn({ prompt: P1, text: 'Fix the api.\nAll of it.', path: 'api/file.txt', content: 'fixed\n' });
  await turn({ prompt: P2, text: 'Now the web', path: 'web/file.txt', content: 'new\n' });
  const before = await countOf();
  const said = await command('undo');
  expect(said).toMatch(/^ {2}1 {2}“Now the web” +\S+ +web$/m);
  expect(said).toMatch(/^ {2}2 {2}“Fix the api\.” +\S+ +api$/m);
  expect(said).toContain('Plan: back to the beginning of “Now the web”');
  expect(said).toContain('~ file.txt');
  expect(said).toContain('/walkback:undo yes');
  expect(said).not.toContain(P2);
  expect(await countOf(), 'a list and a plan take no checkpoint').toBe(before);
  expect(world().read('web/file.txt')).toBe('new\n');

  const done = await command('undo', 'yes');
  expect(done).toContain('Back at the beginning of “Now the web”');
  expect(done).toContain('/walkback:redo');
  expect(done, 'how to cut the conversation').toMatch(/Esc twice.*Restore conversation/);
  expect(world().read('web/file.txt')).toBe('as it was\n');
  expect(world().read('api/file.txt')).toBe('fixed\n');

  // The model is told with the next prompt, once.
  expect(await say('UserPromptSubmit', { prompt_id: P3, prompt: 'go on' })).toEqual({
    hookSpecificOutput: {
      hookEventName: 'UserPromptSubmit',
      additionalContext: expect.stringContaining('the beginning of “Now the web”'),
    },
  });
  expect(await command('redo')).toContain('Back at the state before the last rollback');
  expect(world().read('web/file.txt')).toBe('new\n');
  expect(await command('undo', '2 yes')).toContain('Back at the beginning of “Fix the api.”');
  expect(world().read('api/file.txt')).toBe('as it was\n');
  expect(world().read('web/file.txt')).toBe('as it was\n');
  expect(await command('undo')).toBe('Nothing was changed in this conversation yet.');
  await (await sessionOf()).end();
});

test('undo takes back a turn that was cut, whose work is in no checkpoint', async () => {
  await turn({ prompt: P1, text: 'first', path: 'api/file.txt', content: 'first\n' });
  await turn({ prompt: P2, text: 'second', path: 'web/file.txt', content: 'half\n', isCut: true });
  const said = await command('undo');
  expect(said).toMatch(/^ {2}1 {2}“second” +\S+ +work of a turn that was cut$/m);
  await command('undo', 'yes');
  expect(world().read('web/file.txt')).toBe('as it was\n');
  expect(world().read('api/file.txt')).toBe('first\n');
  // The rollback moved the head, and nothing was cut there.
  expect(await command('undo')).toMatch(/^ {2}1 {2}“first”/m);
  await (await sessionOf()).end();
});

test('rewind lists every checkpoint and goes to any of them; what was not shown is not done', async () => {
  await turn({ prompt: P1, text: 'first', path: 'api/file.txt', content: 'first\n' });
  const list = await command('rewind');
  expect(list).toMatch(/^ {2}cp-2 .*before-tool: Edit/m);
  expect(await command('rewind', 'yes')).toBe('No plan is shown. Look at one first:  /walkback:rewind');
  const plan = await command('rewind', 'cp-2');
  expect(plan).toContain('/walkback:rewind yes');
  expect(await command('undo', 'yes'), 'of another command').toContain('No plan is shown');
  // Somebody else rolls back meanwhile.
  const session = await sessionOf();
  await session.rollback({ to: (await session.timeline()).checkpoints.at(-1)?.checkpointId ?? '' });
  await session.undo();
  expect(await command('rewind', 'yes')).toContain('StaleEpoch');
  expect(world().read('api/file.txt')).toBe('first\n');
  expect(await command('rewind', 'cp-2 yes')).toContain('Back at cp-2');
  expect(world().read('api/file.txt')).toBe('as it was\n');
  expect(await command('rewind', 'cp-99')).toContain('MessageNotFound');
  await session.end();
});

test('a conversation that changed nothing has nothing to undo, and gets no session for asking', async () => {
  for (const name of ['undo', 'rewind', 'redo'])
    expect(await command(name)).toBe('Nothing was changed in this conversation yet.');
  await expect(sessionOf()).rejects.toMatchObject({ name: 'SessionNotFound' });
});

test('the baseline begins with the prompt, no read waits for it, and a prompt that changes nothing ends without a checkpoint', async () => {
  await say('UserPromptSubmit', { prompt_id: P1, prompt: 'What is this?' });
  await say('PreToolUse', { ...edit(P1, 'call-1'), tool_name: 'Bash', tool_input: { command: 'ls' } });
  const session = await vi.waitFor(sessionOf, { timeout: 30_000 });
  await say('Stop', { prompt_id: P1 });
  const { checkpoints } = await session.timeline();
  expect(checkpoints.map(({ reason }) => reason)).toEqual(['baseline']);
  await session.end();
});

test('what is refused at the prompt is told by the first tool, and by no prompt', async () => {
  const env = { CLAUDE_PROJECT_DIR: '/nonexistent/project' };
  const { stdout } = await script('UserPromptSubmit', { session_id: id, prompt_id: P1, prompt: 'go' }, env);
  expect(JSON.parse(stdout)).toEqual({});
  const denied = await script('PreToolUse', { session_id: id, ...edit(P1, 'call-1') }, env);
  expect(JSON.parse(denied.stdout)).toMatchObject({
    hookSpecificOutput: { permissionDecisionReason: expect.stringContaining('ProjectsRootNotFound') },
  });
});

const HOSTILE: [string, string][] = [
  ['control characters', '\u001b[2J\u001b]0;title\u0007red\rover\u202Eesrever'],
  ['markup', '<script>alert(1)</script> ](javascript:x) **bold** `code` & "quotes" \\ %s $(id)'],
  ['a very long line', 'long '.repeat(200_000)],
  ['lines without end', '\n\n\nx\n'.repeat(10_000)],
];

describe.each(HOSTILE)('a prompt of %s', (_name, text) => {
  test('stays text, in the log, in the list and for the model', async () => {
    await turn({ prompt: P1, text, path: 'api/file.txt', content: 'changed\n' });
    const session = await sessionOf();
    const timeline = await session.timeline();
    const log = timelineText(timeline, { paint: createPaint(false), width: 100, now: new Date() });
    const said = await command('undo');
    for (const shown of [log, said]) {
      expect(shown).not.toMatch(/[^\P{Cc}\n]|\u202E/u);
      expect(shown).toContain('“');
      expect(shown).not.toContain(P1);
      for (const line of shown.split('\n')) expect(line.length).toBeLessThanOrEqual(130);
    }
    await command('undo', 'yes');
    expect(world().read('api/file.txt')).toBe('as it was\n');
    await session.end();
  });
});

test("the agent's look through the plugin's own program takes no checkpoint; another program of that name does", async () => {
  const own = join(import.meta.dirname, '../../integrations/claude-code/bin/walkback');
  const bash = (call: string, text: string) => ({
    ...edit(P1, call),
    tool_name: 'Bash',
    tool_input: { command: text },
  });
  await turn({ prompt: P1, text: 'first', path: 'api/file.txt', content: 'first\n' });
  const before = await countOf();
  for (const [index, text] of [
    `"${own}" log --limit 20`,
    `${own} rollback --to cp-2 --dry-run`,
    'walkback log | head -5',
    'walkback session list --all && walkback diff',
  ].entries())
    expect(await say('PreToolUse', bash(`look-${index}`, text))).toEqual({});
  expect(await countOf()).toBe(before);
  writeFileSync(join(world().root, 'api/file.txt'), 'more\n');
  for (const [index, text] of [
    `/tmp/walkback log`,
    `"${own}" log > file.txt`,
    `"${own}" rollback --to cp-2 --yes`,
    'walkback mcp -- rm -rf .',
  ].entries()) {
    expect(await say('PreToolUse', bash(`act-${index}`, text))).toEqual({});
    expect(await countOf(), text).toBe(before + index + 1);
  }
  await (await sessionOf()).end();
});

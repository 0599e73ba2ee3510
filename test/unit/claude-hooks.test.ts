/** What hooks answer where no session can be asked: the mode decides what becomes of the tool, and the answer says that. */
import { expect, test, vi } from 'vitest';
import { createClaudeHooks } from '../../client/claude-hooks.ts';
import { errors, Walkback } from '../../client/index.ts';
import { walkbackPlugin } from '../../client/integrations/opencode.ts';

const CALL = { hook_event_name: 'PreToolUse', prompt_id: 'p', tool_name: 'Bash', tool_use_id: 't' };
const gone = () => Promise.reject(new errors.ProjectsRootNotFound('/gone does not exist.'));

test('block: the tool is denied, and the model is told', async () => {
  for (const options of [{}, { onCheckpointError: 'block' } as const]) {
    expect(await createClaudeHooks(gone, options)(CALL)).toEqual({
      hookSpecificOutput: {
        hookEventName: 'PreToolUse',
        permissionDecision: 'deny',
        permissionDecisionReason:
          'No checkpoint, so the tool does not run. ProjectsRootNotFound: /gone does not exist.',
      },
    });
  }
});

test('warn: the tool runs, and the person is told', async () => {
  expect(await createClaudeHooks(gone, { onCheckpointError: 'warn' })(CALL)).toEqual({
    systemMessage:
      'Walkback: No checkpoint, and the tool runs all the same. ProjectsRootNotFound: /gone does not exist.',
  });
});

test.each(['block', 'warn'] as const)('%s: after a tool the person is told', async (onCheckpointError) => {
  const after = { ...CALL, hook_event_name: 'PostToolUse' };
  expect(await createClaudeHooks(gone, { onCheckpointError })(after)).toEqual({
    systemMessage: 'Walkback: No checkpoint after the tool. ProjectsRootNotFound: /gone does not exist.',
  });
});

test.each([
  ['UserPromptSubmit', 'No session for this prompt.'],
  ['Stop', 'No checkpoint at the end of the turn.'],
])('%s: no tool is there to speak of', async (hook_event_name, said) => {
  for (const onCheckpointError of ['block', 'warn'] as const) {
    const none = async () => undefined;
    const find = async () => ({ sessionId: 's', epoch: 1 });
    const prompts = { find, add: none, textOf: none, dropText: none };
    const hear = createClaudeHooks(gone, { onCheckpointError }, prompts);
    expect(await hear({ hook_event_name, prompt_id: 'p' })).toEqual({
      systemMessage: `Walkback: ${said} ProjectsRootNotFound: /gone does not exist.`,
    });
  }
});

test.each(['block', 'warn'] as const)('%s: what nobody foresaw ends the loop', async (onCheckpointError) => {
  const broken = () => Promise.reject(new Error('a fault of ours'));
  expect(await createClaudeHooks(broken, { onCheckpointError })(CALL)).toMatchObject({
    continue: false,
    stopReason: 'No checkpoint, so the tool does not run. Error: a fault of ours',
    hookSpecificOutput: { permissionDecision: 'deny' },
  });
});

test('a read needs no session: it runs where none can be begun, in either mode, and nothing is said after it', async () => {
  for (const onCheckpointError of ['block', 'warn'] as const) {
    const hear = createClaudeHooks(gone, { onCheckpointError });
    const list = { ...CALL, tool_input: { command: 'ls -la' } };
    expect(await hear(list)).toEqual({});
    expect(await hear({ ...list, hook_event_name: 'PostToolUse' })).toEqual({});
    expect(await hear({ ...CALL, hook_event_name: 'Stop' })).toEqual({});
  }
});

test('a read that failed, which the plugin hears of only then, begins no session', async () => {
  const open = vi.fn(gone);
  const hear = createClaudeHooks(open);
  const failed = { ...CALL, hook_event_name: 'PostToolUseFailure', tool_name: 'Read' };
  expect(await hear({ ...failed, tool_input: { file_path: '/not/there' } })).toEqual({});
  expect(await hear({ ...CALL, hook_event_name: 'Stop' })).toEqual({});
  expect(open).not.toHaveBeenCalled();
});

test('opencode reads where no session can be begun', async () => {
  const walkback = new Walkback({ dataDir: '/nonexistent/data', start: false });
  vi.spyOn(walkback.sessions, 'start').mockImplementation(gone);
  const client = { session: { get: async () => ({ data: {} }), abort: async () => undefined } };
  try {
    const hooks = await walkbackPlugin({ walkback, sessionId: '' })({ directory: '/gone', client });
    const call = { tool: 'read', sessionID: 's', callID: 'c' };
    await hooks['tool.execute.before'](call, { args: { filePath: '/etc/hosts' } });
  } finally {
    vi.restoreAllMocks();
  }
});

test('opencode, which has no answer for the person, gets a warning of the process', async () => {
  const walkback = new Walkback({ dataDir: '/nonexistent/data', start: false });
  vi.spyOn(walkback.sessions, 'start').mockImplementation(gone);
  const warned = vi.spyOn(process, 'emitWarning').mockImplementation(() => undefined);
  const client = { session: { get: async () => ({ data: {} }), abort: async () => undefined } };
  const before = async (onCheckpointError: 'block' | 'warn') => {
    const plugin = walkbackPlugin({ walkback, sessionId: '', onCheckpointError });
    const hooks = await plugin({ directory: '/gone', client });
    const call = { tool: 'bash', sessionID: 's', callID: 'c' };
    return hooks['tool.execute.before'](call, { args: { command: 'make' } });
  };
  try {
    await expect(before('block')).rejects.toThrow('so the tool does not run. ProjectsRootNotFound');
    expect(warned).not.toHaveBeenCalled();
    await before('warn');
    expect(warned).toHaveBeenCalledExactlyOnceWith(
      expect.stringMatching(/the tool runs all the same\. ProjectsRootNotFound/),
      'WalkbackWarning',
    );
  } finally {
    vi.restoreAllMocks();
  }
});

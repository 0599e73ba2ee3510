/** The hooks as the host calls them. The real binary was run by hand: docs/integrations.md. */
import { expect, test } from 'vitest';
import { checkpointHooks } from '../../client/integrations/claude-agent-sdk.ts';
import { openClientWorld } from '../support/client-world.ts';
import { shared } from '../support/shared.ts';

const world = shared(openClientWorld);

test('Claude Agent SDK: checkpoints before tools, late ones after what was missed, and the end of the run', async () => {
  const session = await world().walkback.sessions.start({ root: world().root });
  const hooks = checkpointHooks(session);
  const say = (name: keyof typeof hooks, input: object = {}) => {
    const hook = hooks[name][0]?.hooks[0];
    return hook?.({ hook_event_name: name, prompt_id: 'msg-1', ...input });
  };
  const bash = (id: string) => ({ tool_use_id: id, tool_name: 'Bash', tool_input: { command: 'make' } });
  const newest = async () => (await session.timeline()).checkpoints[0];
  await say('UserPromptSubmit');
  expect(await say('PreToolUse', bash('call-1'))).toEqual({});
  const first = await newest();
  expect(first?.toolExecutionId).toBe('call-1');
  world().write('api/file.txt', 'of the agent\n');
  await say('PostToolUse', bash('call-1'));
  expect((await newest())?.checkpointId, 'no second one after the tool').toBe(first?.checkpointId);
  await say('PostToolUse', bash('missed'));
  expect((await newest())?.reason).toBe('late: Bash had run');
  await say('Stop');
  expect(await newest()).toMatchObject({ messageId: 'msg-1', reason: 'after-turn' });

  const other = await world().walkback.sessions.get(session.sessionId);
  await other.rollback({ to: first?.checkpointId ?? '' });
  expect(world().read('api/file.txt')).toBe('as it was\n');
  const stopped = await say('PreToolUse', bash('call-2'));
  expect(stopped).toMatchObject({ continue: false, hookSpecificOutput: { permissionDecision: 'deny' } });
  expect(stopped?.stopReason).toContain('StaleEpoch');
  await session.end();
});

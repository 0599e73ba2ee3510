/** The built-in tools of workspaces are safe by the kit's own checks, on the embedded cloud. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createRuntime } from '../../functions/runtime.ts';
import { checkpointPorts, workspaces } from '../../functions/sandbox-runtime.ts';
import { type ToolUnsafe, testToolIsSafe } from '../../kit/conformance.ts';
import { workspaceTools } from '../../tools/workspace/catalog.ts';
import { createUses } from '../../tools/workspace/uses.ts';
import { startTestCloud, type TestCloud } from '../support/cloud.ts';
import { openWorld, rootOf, sandboxIds, shell, type World } from '../support/world.ts';

let cloud: TestCloud;
let world: World;
beforeAll(async () => {
  cloud = await startTestCloud();
  world = await openWorld(cloud, { paths: ['api', 'web'] });
  await world.checkpoint('t1', 'msg-1');
});
afterAll(() => cloud.close());

const silent = { info: () => undefined, warn: () => undefined };
/** The tools as the function has them, in this process, so that the kit's checks can call them. */
const toolNamed = async (name: string) => {
  const runtime = createRuntime({ ...process.env, E2B_API_KEY: cloud.environment['E2B_API_KEY'] }, silent);
  const uses = createUses({ ...(await checkpointPorts(runtime)), workspaces: workspaces(runtime) });
  const tool = workspaceTools(uses).find(({ definition }) => definition.name === name);
  if (tool === undefined) throw new Error(`there is no tool ${name}`);
  return tool;
};
const fork = async (requestId: string) => {
  const made = await cloud.invoke('fork-session', { sessionId: world.sessionId, requestId });
  const [sessionId, sandboxId] = [String(made['sessionId']), String(made['sandboxId'])];
  return { sessionId, sandboxId, root: rootOf(cloud, sandboxId) };
};
const isTrue = { id: 'true', description: 'is true', command: 'true', timeoutSeconds: 1 };

test('preflight and verify_commitments are safe', async () => {
  const observe = async () => ({ sandboxes: await sandboxIds(cloud), looks: world.fingerprint() });
  const where = { sandboxId: world.sandboxId, projectsRoot: '/home/user/work' };
  await testToolIsSafe(await toolNamed('preflight'), { sagaId: 'pre', arguments: where, observe });
  await testToolIsSafe(await toolNamed('verify_commitments'), {
    sagaId: 'ver',
    arguments: { sessionId: world.sessionId, commitments: [isTrue] },
    observe,
  });
});

test('open_workspace is safe: what is discarded leaves no sandbox', async () => {
  await testToolIsSafe(await toolNamed('open_workspace'), {
    sagaId: 'open',
    arguments: { sessionId: world.sessionId },
    observe: () => sandboxIds(cloud),
  });
});

test('run_in_workspace is safe', async () => {
  const { sessionId, root } = await fork('for-run');
  await testToolIsSafe(await toolNamed('run_in_workspace'), {
    sagaId: 'run',
    arguments: { sessionId, command: 'echo more >> api/ran', timeoutSeconds: 5 },
    observe: async () => shell(root, 'cat api/ran 2>/dev/null || true').split('\n'),
  });
});

test('the tools that take checkpoints are safe', async () => {
  const { sessionId, root } = await fork('for-checkpoints');
  const count = async () => {
    const { checkpoints } = await cloud.invoke('timeline', { sessionId, limit: 200 });
    return (checkpoints as unknown[]).length;
  };
  const before = await count();
  for (const name of ['checkpoint_workspace', 'prepare_changeset']) {
    const observe = async () => shell(root, 'git -C api status --porcelain; git -C api log --format=%H');
    await testToolIsSafe(await toolNamed(name), { sagaId: name, arguments: { sessionId }, observe });
  }
  expect(await count()).toBeGreaterThan(before);
});

test('apply_changeset and dismiss_workspace are safe', async () => {
  const { sessionId, root } = await fork('for-apply');
  shell(root, 'echo of the fork > api/applied');
  const input = { sessionId, messageId: 'm', toolExecutionId: 'm', reason: 'r' };
  await cloud.invoke('checkpoint', input);
  await testToolIsSafe(await toolNamed('apply_changeset'), {
    sagaId: 'apply',
    arguments: { from: sessionId, into: world.sessionId },
    observe: async () => world.fingerprint(),
  });
  const dismissing = testToolIsSafe(await toolNamed('dismiss_workspace'), {
    sagaId: 'dismiss',
    arguments: { sessionId },
    // What it makes: an ended session, and one sandbox less.
    observe: async () => {
      const { session } = await cloud.invoke('timeline', { sessionId });
      const { status, sandboxId } = session as { status: string; sandboxId: string };
      const isRunning = (await sandboxIds(cloud)).includes(sandboxId);
      return status === 'ended' ? [status, isRunning] : [];
    },
  });
  // A sandbox that was killed does not come back. All that its compensator does is to say so; everything else holds.
  const { problems } = await dismissing.then(
    () => ({ problems: [] }),
    (error: ToolUnsafe) => error,
  );
  expect(problems).toMatchObject([
    expect.stringContaining('its compensator changes what the provider shows'),
  ]);
});

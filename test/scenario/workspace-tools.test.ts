/** The built-in tools of workspaces as steps of sagas on the embedded cloud. In `npm run test:long` they are also safe by the kit's own checks. */
import { afterAll, beforeAll, expect } from 'vitest';
import type { Observation } from '../../contract/saga-observation.ts';
import { createRuntime } from '../../functions/runtime.ts';
import { checkpointPorts, workspaces } from '../../functions/sandbox-runtime.ts';
import { type ToolUnsafe, testToolIsSafe } from '../../kit/conformance.ts';
import { workspaceTools } from '../../tools/workspace/catalog.ts';
import { createUses } from '../../tools/workspace/uses.ts';
import { startTestCloud, type TestCloud } from '../support/cloud.ts';
import { errorOf } from '../support/error-of.ts';
import { inTurn, longTest } from '../support/sampled-test.ts';
import { openWorld, rootOf, sandboxIds, shell, type World } from '../support/world.ts';

const test = inTurn('workspace-tools');

let cloud: TestCloud;
let world: World;
beforeAll(async () => {
  cloud = await startTestCloud();
  world = await openWorld(cloud, { paths: ['api', 'web'] });
  await world.checkpoint('t1', 'msg-1');
});
afterAll(() => cloud.close());

const observe = async (sagaId: string): Promise<Observation> =>
  (await cloud.invoke('describe-saga', { sagaId, waitSeconds: 120 })) as unknown as Observation;

/** Open, work, verify, apply, dismiss; `proof` decides whether the work is kept. */
const plan = (proof: string) => ({
  steps: [
    {
      id: 'ready',
      tool: 'preflight',
      arguments: { sandboxId: world.sandboxId, projectsRoot: '/home/user/work' },
    },
    { id: 'open', tool: 'open_workspace', arguments: { sessionId: world.sessionId } },
    {
      id: 'work',
      tool: 'run_in_workspace',
      arguments: {
        sessionId: '{% steps.open.result.sessionId %}',
        command:
          'echo done > api/work && git -C web -c user.name=A -c user.email=a@example.com commit -q --allow-empty -m work',
      },
    },
    {
      id: 'verify',
      tool: 'verify_commitments',
      arguments: {
        sessionId: '{% steps.open.result.sessionId %}',
        commitments: [{ id: 'done', description: 'the work is done', command: proof }],
      },
    },
    {
      id: 'apply',
      tool: 'apply_changeset',
      arguments: { from: '{% steps.open.result.sessionId %}', into: world.sessionId },
    },
    {
      id: 'dismiss',
      tool: 'dismiss_workspace',
      arguments: { sessionId: '{% steps.open.result.sessionId %}' },
    },
  ],
});

test('a saga of them opens, works, verifies, applies and dismisses; a broken commitment leaves nothing', async () => {
  const [running, before] = [await sandboxIds(cloud), world.fingerprint()];
  const start = (sagaId: string, proof: string) =>
    cloud.invoke('start-saga', { sagaId, plan: plan(proof), input: {}, requestedBy: 'me' });

  await start('broken', 'grep -q finished api/work');
  const broken = await observe('broken');
  expect(broken).toMatchObject({ status: 'COMPENSATED' });
  expect(JSON.stringify(broken)).toContain('CommitmentsBroken');
  expect(world.fingerprint()).toEqual(before);
  expect(await sandboxIds(cloud)).toEqual(running);

  await start('kept', 'grep -q done api/work');
  expect(await observe('kept')).toMatchObject({ status: 'COMPLETED' });
  expect(shell(world.root, 'cat api/work; git -C web log -1 --format=%s')).toBe('done\nwork\n');
  expect(await sandboxIds(cloud)).toEqual(running);
});

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

longTest('preflight and verify_commitments are safe', async () => {
  const observe = async () => ({ sandboxes: await sandboxIds(cloud), looks: world.fingerprint() });
  const where = { sandboxId: world.sandboxId, projectsRoot: '/home/user/work' };
  await testToolIsSafe(await toolNamed('preflight'), { sagaId: 'pre', arguments: where, observe });
  await testToolIsSafe(await toolNamed('verify_commitments'), {
    sagaId: 'ver',
    arguments: { sessionId: world.sessionId, commitments: [isTrue] },
    observe,
  });
});

longTest('open_workspace is safe: what is discarded leaves no sandbox', async () => {
  await testToolIsSafe(await toolNamed('open_workspace'), {
    sagaId: 'open',
    arguments: { sessionId: world.sessionId },
    observe: () => sandboxIds(cloud),
  });
});

longTest('run_in_workspace is safe', async () => {
  const { sessionId, root } = await fork('for-run');
  await testToolIsSafe(await toolNamed('run_in_workspace'), {
    sagaId: 'run',
    arguments: { sessionId, command: 'echo more >> api/ran', timeoutSeconds: 5 },
    observe: async () => shell(root, 'cat api/ran 2>/dev/null || true').split('\n'),
  });
});

longTest('the tools that take checkpoints are safe', async () => {
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

longTest('apply_changeset and dismiss_workspace are safe', async () => {
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

// The last one: it ends the session.
test('a changeset in a session that ended since cannot be taken back: a person is told, with what to look at', async () => {
  const steps = plan('true').steps.filter(({ id }) => id === 'open' || id === 'work' || id === 'apply');
  const sagaId = 'into-ended';
  shell(world.root, 'echo before > api/work');
  await world.checkpoint('t2', 'msg-2');
  await cloud.invoke('start-saga', { sagaId, plan: { steps }, input: {}, requestedBy: 'me' });
  expect(await observe(sagaId)).toMatchObject({ status: 'COMPLETED' });
  expect(shell(world.root, 'cat api/work')).toBe('done\n');
  const applied = world.fingerprint();
  await cloud.invoke('end-session', { sessionId: world.sessionId });
  await cloud.invoke('operate-saga', { sagaId, action: 'undo', by: 'ops' });
  const seen = await observe(sagaId);
  expect(seen).toMatchObject({ status: 'COMPENSATION_FAILED' });
  expect(seen.notCompensated).toMatchObject([
    {
      step: 'apply',
      externalRef: expect.stringMatching(/^cp-/),
      error: errorOf('SessionEnded', /cp-\d{8}-\w+ of session s1 holds what was/),
    },
  ]);
  expect(world.fingerprint()).toEqual(applied);
});

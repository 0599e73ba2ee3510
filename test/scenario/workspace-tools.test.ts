/** The built-in tools of workspaces as steps of sagas on the embedded cloud. */
import { afterAll, beforeAll, expect } from 'vitest';
import type { Observation } from '../../contract/saga-answers.ts';
import { startTestCloud, type TestCloud } from '../support/cloud.ts';
import { inTurn } from '../support/sampled-test.ts';
import { openWorld, sandboxIds, shell, type World } from '../support/world.ts';

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
      error: {
        name: 'SessionEnded',
        message: expect.stringMatching(/cp-\d{8}-\w+ of session s1 holds what was/),
      },
    },
  ]);
  expect(world.fingerprint()).toEqual(applied);
});

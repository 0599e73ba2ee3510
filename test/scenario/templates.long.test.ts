/** Templates that come with Walkback, on the embedded cloud: agents are scripts that submit steps; git, sandboxes and machine are real. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Observation } from '../../contract/saga-observation.ts';
import { startTestCloud, type TestCloud } from '../support/cloud.ts';
import { mergeStage } from '../support/merge-stage.ts';
import { rootOf, sandboxIds, shell, type World } from '../support/world.ts';

let cloud: TestCloud;
let stage: ReturnType<typeof mergeStage>;
let world: World;
beforeAll(async () => {
  cloud = await startTestCloud();
  stage = mergeStage(cloud);
  world = await stage.open();
});
afterAll(() => cloud.close());

const observe = async (sagaId: string): Promise<Observation> =>
  (await cloud.invoke('describe-saga', { sagaId, waitSeconds: 120 })) as unknown as Observation;

const start = (sagaId: string, name: string, input: object) =>
  cloud.invoke('start-saga', { sagaId, definition: { name }, input, requestedBy: 'me', project: 'acme' });

/** The agent of this step, when it is its turn: what it is told. */
const turnOf = async (sagaId: string): Promise<Record<string, unknown>> => {
  let told: Observation['interactive'];
  await expect
    .poll(
      async () => {
        const seen = await cloud.invoke('describe-saga', { sagaId }).catch(() => undefined);
        told = (seen as unknown as Observation | undefined)?.interactive;
        return told?.what;
      },
      { timeout: 300_000 },
    )
    .toBe('next-step');
  return told?.input as Record<string, unknown>;
};

const close = (sagaId: string, result: object) =>
  cloud.invoke('close-saga', { sagaId, outcome: 'complete', result });

const proof = (command: string) => [{ id: 'proof', description: 'it is as wanted', command }];

test('assignment: work that fails is taken back, the next round is told why; at last a person is asked', async () => {
  const fork = await stage.forkOf(world, 'agent');
  const input = {
    sessionId: fork.sessionId,
    task: 'Write good.',
    commitments: proof('grep -q good api/work'),
  };
  await start('done', 'assignment', { ...input, maxRounds: 2 });
  const first = 'done.round1.0.work';
  expect(await turnOf(first)).toMatchObject({ task: 'Write good.', round: 1, guidance: '' });
  const submitted = await cloud.invoke('submit-step', {
    sagaId: first,
    stepId: 'one',
    tool: 'run_in_workspace',
    arguments: { sessionId: fork.sessionId, command: 'echo bad > api/work' },
    waitSeconds: 60,
  });
  expect(submitted).toMatchObject({ step: { status: 'committed' } });
  shell(fork.root, 'echo by itself > web/beside');
  await close(first, { said: 'done' });

  const second = await turnOf('done.round2.0.work');
  expect(second).toMatchObject({ round: 2, guidance: expect.stringContaining('proof broken') });
  expect(shell(fork.root, 'ls api/work web/beside 2>/dev/null || true')).toBe('');
  shell(fork.root, 'echo good > api/work');
  await close('done.round2.0.work', { said: 'now it is' });
  expect(await observe('done')).toMatchObject({ status: 'COMPLETED' });
  expect(shell(fork.root, 'cat api/work')).toBe('good\n');

  const before = fork.looks();
  await start('asks', 'assignment', { ...input, commitments: proof('test -e api/never'), maxRounds: 1 });
  await turnOf('asks.round1.0.work');
  shell(fork.root, 'echo worse > api/work');
  await close('asks.round1.0.work', {});
  await expect
    .poll(
      async () => {
        const seen = await cloud
          .invoke('describe-saga', { sagaId: 'asks.escalate.0' })
          .catch(() => undefined);
        return seen?.['status'];
      },
      { timeout: 300_000 },
    )
    .toBe('AWAITING');
  const answer = { sagaId: 'asks.escalate.0', stepId: 'begin', decision: 'reject', by: 'ada' };
  await cloud.invoke('answer', answer);
  expect(await observe('asks')).toMatchObject({ status: 'COMPENSATED' });
  expect(fork.looks()).toEqual(before);
  await cloud.invoke('end-session', { sessionId: fork.sessionId, discard: true });
}, 900_000);

test('delegate: subtasks are done in forks side by side and merged; one that conflicts leaves nothing', async () => {
  const running = await sandboxIds(cloud);
  const before = world.fingerprint();
  const subtask = (name: string) => ({
    task: `Write ${name}.`,
    commitments: proof(`test -e api/${name}`),
    maxRounds: 1,
  });
  const work = async (id: string, texts: readonly string[]): Promise<void> => {
    for (const [at, text] of texts.entries()) {
      const agent = `${id}.subtasks.${at}.work.round1.0.work`;
      const { sessionId, task } = await turnOf(agent);
      const { session } = await cloud.invoke('timeline', { sessionId });
      const root = rootOf(cloud, (session as { sandboxId: string }).sandboxId);
      shell(root, `echo ${text} > api/${String(task).slice(6, -1)}; echo ${text} > web/same`);
      await close(agent, {});
    }
  };
  const input = { sessionId: world.sessionId, subtasks: [subtask('a'), subtask('b')] };
  await start('clash', 'delegate', { ...input, commitments: proof('true') });
  await work('clash', ['one', 'other']);
  const clash = await observe('clash');
  expect(clash).toMatchObject({ status: 'COMPENSATED' });
  expect(JSON.stringify(clash)).toContain('web/same (content');
  expect(world.fingerprint()).toEqual(before);
  expect(await sandboxIds(cloud)).toEqual(running);

  await start('all', 'delegate', { ...input, commitments: proof('test -e api/a && test -e api/b') });
  await work('all', ['one', 'one']);
  expect(await observe('all')).toMatchObject({ status: 'COMPLETED' });
  expect(shell(world.root, 'cat api/a api/b web/same')).toBe('one\none\none\n');
  expect(await sandboxIds(cloud)).toEqual(running);
}, 900_000);

test('spawn-agent: opens a workspace that is ready; one that cannot be made ready is gone', async () => {
  const running = await sandboxIds(cloud);
  const input = {
    sessionId: world.sessionId,
    template: 'base',
    projectsRoot: '/home/user/work',
    needs: ['git'],
    guidance: 'Mend the tests.',
    command: 'echo ready > api/ready',
  };
  await start('missing', 'spawn-agent', { ...input, needs: ['no-such-command'] });
  expect(JSON.stringify(await observe('missing'))).toContain('no-such-command');
  await start('unready', 'spawn-agent', { ...input, command: 'exit 3' });
  expect(await observe('unready')).toMatchObject({ status: 'COMPENSATED' });
  expect(await sandboxIds(cloud)).toEqual(running);
  await start('ready', 'spawn-agent', input);
  expect(await observe('ready')).toMatchObject({ status: 'COMPLETED' });
  const added = (await sandboxIds(cloud)).filter((id) => !running.includes(id));
  expect(added).toHaveLength(1);
  expect(shell(rootOf(cloud, added[0] ?? ''), 'cat api/ready')).toBe('ready\n');
  await cloud.invoke('operate-saga', { sagaId: 'ready', action: 'undo', by: 'ops' });
  expect(await observe('ready')).toMatchObject({ status: 'COMPENSATED' });
  expect(await sandboxIds(cloud)).toEqual(running);
}, 900_000);

test('message: what the model did and said is kept when it is done, and taken back when it is not', async () => {
  const before = world.fingerprint();
  const input = { sessionId: world.sessionId, messageId: 'q1', text: 'Write it.' };
  await start('half', 'message', { ...input, commitments: proof('test -e api/nothing') });
  expect(await turnOf('half.ask')).toMatchObject({ text: 'Write it.' });
  shell(world.root, 'echo half > api/half');
  await close('half.ask', { text: 'I wrote it.' });
  expect(await observe('half')).toMatchObject({ status: 'COMPENSATED' });
  expect(world.fingerprint()).toEqual(before);

  await start('whole', 'message', { ...input, messageId: 'q2', commitments: proof('test -e api/whole') });
  await turnOf('whole.ask');
  shell(world.root, 'echo whole > api/whole');
  await close('whole.ask', { text: 'I wrote it.' });
  expect(await observe('whole')).toMatchObject({ status: 'COMPLETED' });
  const changes = await cloud.invoke('changes', { sessionId: world.sessionId, messageId: 'q2.answer' });
  expect(JSON.stringify(changes)).toContain('I wrote it.');
}, 900_000);

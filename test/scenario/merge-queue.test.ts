/** The merge queue that comes with Walkback, on the embedded cloud: real git, real sandboxes, the real machine. */
import { afterAll, beforeAll, expect } from 'vitest';
import type { Observation } from '../../contract/saga-observation.ts';
import { mergeQueue } from '../../tools/templates/merge-queue.ts';
import { startTestCloud, type TestCloud } from '../support/cloud.ts';
import { answered } from '../support/error-of.ts';
import { type Fork, mergeStage } from '../support/merge-stage.ts';
import { inTurn } from '../support/sampled-test.ts';
import { commandOn } from '../support/tampering.ts';
import { sandboxIds, shell, type World } from '../support/world.ts';

const test = inTurn('merge-queue');

let cloud: TestCloud;
let command: ReturnType<typeof commandOn>;
let stage: ReturnType<typeof mergeStage>;
let world: World;
beforeAll(async () => {
  cloud = await startTestCloud();
  command = commandOn(cloud);
  stage = mergeStage(cloud);
  world = await stage.open();
});
afterAll(async () => {
  command.close();
  await cloud.close();
});

const observe = async (sagaId: string): Promise<Observation> =>
  (await cloud.invoke('describe-saga', { sagaId, waitSeconds: 120 })) as unknown as Observation;

const forkWith = async (name: string, work: string): Promise<Fork> => {
  const fork = await stage.forkOf(world, name);
  shell(fork.root, work);
  await fork.checkpoint(name);
  return fork;
};

const inputOf = (from: string | string[], proof: string) => ({
  from,
  into: world.sessionId,
  commitments: [{ id: 'proof', description: 'it is as wanted', command: proof }],
});

/** By the command, on a cloud that nobody stored anything in. */
const enter = async (id: string, from: string | string[], proof: string): Promise<void> => {
  const input = JSON.stringify(inputOf(from, proof));
  const words = ['saga', 'start', 'merge-queue', '--id', id, '--project', 'acme', '--input', input];
  expect((await command.run([...words, '--by', 'me'])).stdout).toContain(id);
};

test('entries go one after the other, each verified as it is applied; what is refused leaves nothing', async () => {
  const first = await forkWith('a', 'echo a > api/a; git -C web commit -q --allow-empty -m of-a');
  const second = await forkWith('b', 'echo b > web/b; echo b > api/b');
  const third = await forkWith('c', 'echo c > api/a');
  const fourth = await forkWith('d', 'echo d > web/d');
  const running = await sandboxIds(cloud);
  // Work that no checkpoint holds is work that was merged on, too.
  shell(world.root, 'echo mine > web/mine');

  await enter('one', first.sessionId, 'test -e web/mine && test -e api/a');
  await enter('two', second.sessionId, 'test -e api/a && test -e web/b');
  expect(await observe('one')).toMatchObject({ status: 'COMPLETED' });
  expect(await observe('two')).toMatchObject({ status: 'COMPLETED' });
  expect(shell(world.root, 'cat api/a api/b web/b web/mine; git -C web log -1 --format=%s')).toBe(
    'a\nb\nb\nmine\nof-a\n',
  );
  expect(await sandboxIds(cloud)).toEqual(running);

  const before = world.fingerprint();
  await enter('conflict', third.sessionId, 'true');
  const conflict = await observe('conflict');
  expect(conflict).toMatchObject({ status: 'COMPENSATED' });
  expect(JSON.stringify(conflict)).toContain('ChangesetConflict');
  expect(JSON.stringify(conflict)).toContain('api/a (content');
  // The first of the two merges, and is taken back with the other.
  await enter('both', [fourth.sessionId, third.sessionId], 'true');
  expect(JSON.stringify(await observe('both'))).toContain(`${third.sessionId}: Both sides changed`);
  await enter('broken', fourth.sessionId, 'test -e nowhere');
  const broken = await observe('broken');
  expect(broken).toMatchObject({ status: 'COMPENSATED' });
  expect(JSON.stringify(broken)).toContain('CommitmentsBroken');
  expect(JSON.stringify(broken), 'nothing was said, so nothing follows').toContain(' broken (exit code 1)"');
  expect(world.fingerprint()).toEqual(before);
  expect(await sandboxIds(cloud)).toEqual(running);
});

test('a target that moved after it was verified refuses; an entry that is undone leaves what came later', async () => {
  const fork = await forkWith('e', 'echo e > web/e');
  const running = await sandboxIds(cloud);
  // Somebody works in the target after it was verified.
  const steps = mergeQueue.plan.steps.map((step) =>
    step.id === 'apply' ? { ...step, approval: { timeoutSeconds: 600 } } : step,
  );
  const asked = { plan: { steps }, input: inputOf(fork.sessionId, 'test -e web/e'), requestedBy: 'me' };
  await cloud.invoke('start-saga', { sagaId: 'moved', project: 'acme', ...asked });
  expect(await observe('moved')).toMatchObject({ status: 'AWAITING' });
  shell(world.root, 'echo since > api/since');
  const worked = world.fingerprint();
  await cloud.invoke('answer', { sagaId: 'moved', stepId: 'apply', decision: 'approve', by: 'ada' });
  const moved = await observe('moved');
  expect(moved).toMatchObject({ status: 'COMPENSATED' });
  expect(JSON.stringify(moved)).toContain('was worked in since: api.');
  expect(world.fingerprint()).toEqual(worked);
  expect(await sandboxIds(cloud)).toEqual(running);

  // It is merged on what came since.
  await enter('again', fork.sessionId, 'test -e web/e && test -e api/since');
  expect(await observe('again')).toMatchObject({ status: 'COMPLETED' });
  shell(world.root, 'echo later > api/later');
  await cloud.invoke('operate-saga', { sagaId: 'again', action: 'undo', by: 'ops' });
  const undone = await observe('again');
  expect(undone).toMatchObject({ status: 'COMPENSATED' });
  expect(JSON.stringify(undone)).toMatch(/can be rehydrated until \d{4}-\d\d-\d\dT[\d:.]+Z\./);
  expect(shell(world.root, 'ls web/e 2>/dev/null || true; cat api/since api/later')).toBe('since\nlater\n');

  // What was taken back comes again with the next entry.
  await enter('more', fork.sessionId, 'test -e web/e && test -e api/later');
  expect(await observe('more')).toMatchObject({ status: 'COMPLETED' });
  expect(shell(world.root, 'cat web/e')).toBe('e\n');
});

test.each([
  ['cwd', { cwd: '../elsewhere' }],
  ['command', { command: 'true\0' }],
  ['description', { description: 'two\nlines' }],
])('an entry with a %s that could never be verified is not begun', async (field, wrong) => {
  const input = {
    from: 'fork',
    into: world.sessionId,
    commitments: [{ id: 'a', description: 'd', command: 'c', ...wrong }],
  };
  const start = {
    sagaId: `wrong-${field}`,
    definition: { name: 'merge-queue' },
    project: 'acme',
    requestedBy: 'me',
    input,
  };
  const refused = await cloud.invoke('start-saga', start).catch((error: unknown) => error);
  expect(refused).toMatchObject(answered('InvalidInput', field));
});

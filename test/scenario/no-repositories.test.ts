/** Checkpoints at which every repository was gone: what rebuilds one, and what goes there and away from it. */
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect } from 'vitest';
import { startTestCloud, type TestCloud } from '../support/cloud.ts';
import { describeCase, failAndRepeat, faultCases, openFaultLine } from '../support/fault-matrix.ts';
import { mergeStage, PATHS } from '../support/merge-stage.ts';
import { sampledTest } from '../support/sampled-test.ts';
import {
  createRepositories,
  edit,
  fingerprint,
  type Recorded,
  rootOf,
  sandboxIds,
  sdkOf,
  type World,
} from '../support/world.ts';

const test = sampledTest('no-repositories', 3);

const NOTHING = 'the checkpoint holds no repository';

let cloud: TestCloud;
let stage: ReturnType<typeof mergeStage>;
let world: World;
let full: Recorded;
let empty: Recorded;
beforeAll(async () => {
  cloud = await startTestCloud();
  stage = mergeStage(cloud);
  world = await stage.open();
  edit(world.root, 1, PATHS);
  full = await world.checkpoint('full');
  for (const path of PATHS) rmSync(join(world.root, path), { recursive: true });
  empty = await checkpointOf(world, 'empty');
});
afterAll(() => cloud.close());

/** `World.checkpoint` looks into each repository. */
const checkpointOf = async ({ sessionId }: { sessionId: string }, id: string): Promise<Recorded> => {
  const input = { sessionId, messageId: id, toolExecutionId: id, reason: 'before-tool' };
  return { checkpointId: String((await cloud.invoke('checkpoint', input))['checkpointId']), looks: [] };
};

/** Without ignored files, which stay in each rollback. */
const make = (root: string, paths: readonly string[]): void => {
  createRepositories(root, paths);
  for (const path of paths) rmSync(join(root, path, 'cache.ignored'));
};

/** What a person sees there: our own directory is no part of it. */
const seen = (root: string): string[] => readdirSync(root).filter((name) => name !== '.agent-shadow');

const rehydrate = async (more: object) =>
  cloud.invoke('rehydrate', { sessionId: world.sessionId, checkpointId: empty.checkpointId, ...more });

test('a review copy of it is an empty projects root, which says so and can be worked in', async () => {
  const copy = await rehydrate({ requestId: 'review' });
  expect(copy).toMatchObject({ repositories: [], warnings: [NOTHING] });
  const sandboxId = String(copy['sandboxId']);
  const root = rootOf(cloud, sandboxId);
  expect(seen(root)).toEqual([]);
  expect(await rehydrate({ requestId: 'review' })).toEqual(copy);

  const { sessionId } = world;
  const compare = async (from: string, to: string) => {
    const { repositories } = await cloud.invoke('diff', { sessionId, sandboxId, from, to, stat: true });
    return repositories as { path: string; files: number }[];
  };
  expect((await compare('head', 'now')).filter(({ files }) => files > 0)).toEqual([]);

  make(root, ['made']);
  expect((await compare('head', 'now')).filter(({ files }) => files > 0)).toMatchObject([{ path: 'made' }]);
  await cloud.invoke('rollback', {
    sessionId,
    sandboxId,
    checkpointId: full.checkpointId,
    requestId: 'there',
  });
  expect(fingerprint(root, PATHS)).toEqual(full.looks);
  await cloud.invoke('rollback', {
    sessionId,
    sandboxId,
    checkpointId: empty.checkpointId,
    requestId: 'back',
  });
  expect(seen(root)).toEqual([]);
});

test('a rollback goes there and away, and a second time to where it stands', async () => {
  await world.rollback('away', full.checkpointId);
  expect(world.fingerprint()).toEqual(full.looks);
  for (const requestId of ['there-1', 'there-2']) {
    expect(await world.rollback(requestId, empty.checkpointId)).toMatchObject({ status: 'APPLIED' });
    expect(seen(world.root)).toEqual([]);
  }
});

test('a commitment is verified in it', async () => {
  const { sessionId } = world;
  const commitments = [{ id: 'nothing', description: 'There is nothing.', command: 'test -z "$(ls)"' }];
  const { checkpointId } = empty;
  expect(await cloud.invoke('verify-commitments', { sessionId, checkpointId, commitments })).toMatchObject({
    ok: true,
    warnings: [NOTHING],
  });
});

test('a fork begins there with nothing, says so, and its work comes back by a merge', async () => {
  const { sessionId } = world;
  const { checkpointId } = empty;
  const fork = await cloud.invoke('fork-session', { sessionId, checkpointId, requestId: 'fork' });
  expect(fork).toMatchObject({ repositories: [], warnings: [NOTHING] });
  const forkId = String(fork['sessionId']);
  const root = rootOf(cloud, String(fork['sandboxId']));
  expect(seen(root)).toEqual([]);
  await expect(
    cloud.invoke('changes', { sessionId: forkId, checkpointId: fork['checkpointId'], path: 'api' }),
  ).rejects.toThrow('Repositories: none.');
  make(root, ['api', 'made']);
  const looks = fingerprint(root, ['api', 'made']);
  await checkpointOf({ sessionId: forkId }, 'work');
  expect((await cloud.invoke('timeline', { sessionId: forkId }))['checkpoints']).toHaveLength(2);

  await stage.merge({ sessionId: forkId }, world, 'merge');
  expect(fingerprint(world.root, ['api', 'made'])).toEqual(looks);
  await world.rollback('unmerge', empty.checkpointId);
  expect(seen(world.root)).toEqual([]);
});

test('a fork in which everything was deleted is merged into its source', async () => {
  const other = await stage.open();
  const before = other.fingerprint();
  const fork = await stage.forkOf(other);
  for (const path of PATHS) rmSync(join(fork.root, path), { recursive: true });
  await fork.checkpoint('gone');
  const merged = await stage.merge(fork, other, 'merge');
  expect(merged.status).toBe('APPLIED');
  expect(other.fingerprint().filter((line) => line.startsWith('f '))).toEqual([]);
  expect(merged.repositories.map(({ action }) => action)).toEqual(['parked', 'parked']);
  await other.rollback('undo', String(merged.undoCheckpointId));
  expect(other.fingerprint()).toEqual(before);
});

test('a session goes on in an empty root, and comes back', async () => {
  const resumed = await rehydrate({ requestId: 'resume', mode: 'resume' });
  expect(resumed).toMatchObject({ repositories: [], warnings: [NOTHING] });
  world.sandboxId = String(resumed['sandboxId']);
  expect(seen(world.root)).toEqual([]);
  make(world.root, ['made']);
  const made = await checkpointOf(world, 'made');
  const looks = fingerprint(world.root, ['made']);
  await world.rollback('to-full', full.checkpointId);
  expect(world.fingerprint()).toEqual(full.looks);
  await world.rollback('to-made', made.checkpointId);
  expect(fingerprint(world.root, ['made'])).toEqual(looks);
  await world.rollback('to-empty', empty.checkpointId);
  expect(seen(world.root)).toEqual([]);
});

/** A call of which the answer is lost leaves a sandbox, in which there may be no projects root yet. */
test('whichever call of E2B fails, the same request answers one whole copy', async () => {
  const line = await openFaultLine(cloud);
  const { e2b } = await line.count(() => rehydrate({ requestId: 'counted' }));
  const cases = faultCases(
    'rehydrate of nothing',
    { s3: 0, dynamodb: 0, e2b },
    { every: 12, whole: 1, minimum: 2 },
  );
  for (const [index, fault] of cases.entries()) {
    const name = describeCase(fault);
    const others = await sandboxIds(cloud);
    const { answer } = await failAndRepeat(line, fault, () => rehydrate({ requestId: `fault-${index}` }));
    const sandboxId = String(answer['sandboxId']);
    expect(answer, name).toMatchObject({ repositories: [], warnings: [NOTHING] });
    expect(seen(rootOf(cloud, sandboxId)), name).toEqual([]);
    expect(await sandboxIds(cloud), name).toEqual([...others, sandboxId].toSorted());
    await sdkOf(cloud).kill(sandboxId);
  }
});

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import { startTestCloud } from '../support/cloud.ts';
import { takeManyAtOnce } from '../support/many-checkpoints.ts';
import { sampledTest } from '../support/sampled-test.ts';
import { WHOLE } from '../support/sampling.ts';
import { shared } from '../support/shared.ts';
import { createRepositories, edit, fingerprint, openWorld, rootOf } from '../support/world.ts';

/** Half of them, others each time; all of them in `npm run test:long`. */
const test = sampledTest('checkpoint-concurrency', 4);

const PATHS = ['api', 'web'];
/** Where one repository shows as much. */
const ONE = ['api'];

const cloud = shared(startTestCloud);

const take = (sessionId: string, toolExecutionId: string, messageId = 'm1', epoch?: number) =>
  cloud().invoke('checkpoint', {
    sessionId,
    messageId,
    toolExecutionId,
    reason: 'before-tool',
    ...(epoch !== undefined && { epoch }),
  });

const rebuilt = async (sessionId: string, checkpointId: unknown, paths = PATHS): Promise<string[]> => {
  const { sandboxId } = await cloud().invoke('rehydrate', { sessionId, checkpointId });
  return fingerprint(rootOf(cloud(), String(sandboxId)), paths);
};

test('two checkpoints at once both succeed, and each can be rebuilt from the bucket', async () => {
  const world = await openWorld(cloud(), { sessionId: 'two', paths: PATHS });
  edit(world.root, 1, PATHS);
  const looks = world.fingerprint();
  const [one, two] = await Promise.all([take('two', 't1'), take('two', 't2')]);
  expect(new Set([one['seq'], two['seq']])).toEqual(new Set([2, 3]));
  expect(await rebuilt('two', one['checkpointId'])).toEqual(looks);
  edit(world.root, 2, PATHS);
  const after = await world.checkpoint('t3');
  // On the chain of both.
  expect(await rebuilt('two', after.checkpointId)).toEqual(after.looks);
});

test('the same execution three times at once is one checkpoint', async () => {
  const world = await openWorld(cloud(), { sessionId: 'same', paths: ONE });
  edit(world.root, 1, ONE);
  const answers = await Promise.all([take('same', 't1'), take('same', 't1'), take('same', 't1')]);
  expect(answers[1]).toEqual(answers[0]);
  expect(answers[2]).toEqual(answers[0]);
  expect((await world.timeline()).checkpoints).toHaveLength(2);
});

test('during a rollback a checkpoint is refused, by its name, and nothing is mixed', async () => {
  const world = await openWorld(cloud(), { sessionId: 'fenced', paths: PATHS });
  const start = { session: (await world.timeline()).session, looks: world.fingerprint() };
  edit(world.root, 1, PATHS);
  const start1 = (await world.timeline()).checkpoints[0]?.checkpointId;
  const START = { path: '/process.Process/Start' };
  const refused = Promise.withResolvers<void>();
  const e2b = await cloud().interpose('e2b', [
    { match: START, at: 2, action: { kind: 'hold', until: refused.promise } },
  ]);
  const rollback = world.rollback('r1', String(start1));
  // The restore has been sent and not yet arrived.
  await e2b.reached(2, START);
  await expect(take('fenced', 'now')).rejects.toMatchObject({ errorType: 'RollbackInProgress' });
  await expect(take('fenced', 'old', 'm1', 1)).rejects.toMatchObject({ errorType: 'StaleEpoch' });
  refused.resolve();
  await expect(rollback).resolves.toMatchObject({ status: 'APPLIED', epoch: 2 });
  cloud().heal();
  expect(world.fingerprint()).toEqual(start.looks);
  const { checkpoints } = await world.timeline();
  expect(checkpoints.map(({ reason }) => reason)).toEqual(['rollback', 'baseline']);
});

test('a checkpoint that captured before a rollback and would be written after it is stale', async () => {
  const world = await openWorld(cloud(), { sessionId: 'late', paths: ONE });
  const first = await world.checkpoint('first');
  edit(world.root, 1, ONE);
  const TRANSACTION = { operation: 'TransactWriteItems' };
  const rolledBack = Promise.withResolvers<void>();
  const dynamodb = await cloud().interpose('dynamodb', [
    { match: TRANSACTION, at: 1, action: { kind: 'hold', until: rolledBack.promise } },
  ]);
  const late = take('late', 'late', 'm2').catch((error: unknown) => error);
  await dynamodb.reached(1, TRANSACTION);
  await world.rollback('r1', first.checkpointId);
  rolledBack.resolve();
  expect(world.fingerprint()).toEqual(first.looks);
  expect(await late).toMatchObject({ errorType: 'StaleEpoch' });
  cloud().heal();
  const { session, checkpoints } = await world.timeline();
  expect(checkpoints.map(({ toolExecutionId }) => toolExecutionId)).not.toContain('late');
  expect(checkpoints.find(({ seq }) => seq === session.headSeq)?.checkpointId).toBe(first.checkpointId);
});

test('two sessions on one directory, in two sandboxes, do not see each other', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'walkback-shared-'));
  try {
    createRepositories(directory, ONE);
    const one = await openWorld(cloud(), { sessionId: 'left', paths: ONE, mount: directory });
    const two = await openWorld(cloud(), { sessionId: 'right', paths: ONE, mount: directory });
    edit(directory, 2, ONE);
    const left = await one.checkpoint('l1');
    edit(directory, 3, ONE);
    const right = await two.checkpoint('r1');
    edit(directory, 6, ONE);
    const [l3, r3] = await Promise.all([one.checkpoint('l3'), two.checkpoint('r3')]);
    expect(r3.looks).toEqual(l3.looks);

    const back = await one.rollback('back', left.checkpointId);
    expect(one.fingerprint()).toEqual(left.looks);
    expect((await two.timeline()).session).toMatchObject({ epoch: 1, busy: null });
    const seen = await two.checkpoint('r4');
    expect(seen.looks).toEqual(left.looks);
    await one.rollback('undo', String(back['undoCheckpointId']));
    expect(one.fingerprint()).toEqual(l3.looks);
    await two.rollback('back', right.checkpointId);
    expect(two.fingerprint()).toEqual(right.looks);
    expect(await rebuilt('left', left.checkpointId, ONE)).toEqual(left.looks);
  } finally {
    // After a failure something may still write here for a moment.
    await rm(directory, { recursive: true, force: true, maxRetries: 10 });
  }
});

test('many checkpoints of several sessions at once are taken, or say that they may be tried again', async () => {
  const [sessions, each, least] = WHOLE ? [20, 5, 91] : [2, 2, 0];
  const { taken, throttled } = await takeManyAtOnce(cloud(), { sessions, each });
  process.stdout.write(`checkpoint-concurrency: ${taken} taken, ${throttled} throttled\n`);
  expect(taken + throttled).toBe(sessions * each);
  expect(taken).toBeGreaterThanOrEqual(least);
});

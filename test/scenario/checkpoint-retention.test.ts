/** What has expired goes, real tables and real objects. In `npm run test:long` also: a fork keeps what it needs of its source alive, and no more. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DynamoDBClient, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { expect } from 'vitest';
import { startTestCloud, type TestCloud } from '../support/cloud.ts';
import { mergeStage } from '../support/merge-stage.ts';
import { inTurn, longTest } from '../support/sampled-test.ts';
import { expire, storedKeys } from '../support/stored-objects.ts';
import { createRepositories, edit, fingerprint, openWorld, rootOf, shell } from '../support/world.ts';

const test = inTurn('checkpoint-retention');

const PATHS = ['api', 'web'];

const isOf = (sessionId: string) => (key: string) => key.startsWith(`sessions/${sessionId}/`);

test('what has expired goes with its objects; a base that a living session stands on stays', async () => {
  await using cloud = await startTestCloud();
  const directory = await mkdtemp(join(tmpdir(), 'walkback-retention-'));
  try {
    createRepositories(directory, PATHS);
    const short = await openWorld(cloud, {
      sessionId: 'short',
      paths: PATHS,
      mount: directory,
      settings: { retentionDays: 1, tenant: 'shop' },
    });
    const long = await openWorld(cloud, {
      sessionId: 'long',
      paths: PATHS,
      mount: directory,
      settings: { retentionDays: 100, tenant: 'shop' },
    });
    edit(directory, 1, PATHS);
    await short.checkpoint('t1');
    const kept = await long.checkpoint('t1');
    await cloud.settled();
    const before = await storedKeys(cloud);
    const bases = before.filter((key) => key.startsWith('bases/'));
    // Shared: the second session made none.
    expect(bases).toHaveLength(PATHS.length);
    expect(before.filter(isOf('short')).length).toBeGreaterThan(PATHS.length);

    // Checkpoints live one retention, links two: a checkpoint never outlives what it needs.
    await expire(cloud, 1.5);
    await expect(short.timeline()).rejects.toMatchObject({ errorType: 'SessionNotFound' });
    expect(await storedKeys(cloud)).toEqual(before);
    await expire(cloud, 3);
    expect(await storedKeys(cloud)).toEqual(before.filter((key) => !isOf('short')(key)));

    const { sandboxId } = await cloud.invoke('rehydrate', {
      sessionId: 'long',
      checkpointId: kept.checkpointId,
    });
    expect(fingerprint(rootOf(cloud, String(sandboxId)), PATHS)).toEqual(kept.looks);
    edit(directory, 2, PATHS);
    await long.checkpoint('t2');

    await expire(cloud, 400);
    expect(await storedKeys(cloud)).toEqual([]);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
});

/** What the session writes from now on lives so long. Both sides of a fork have the same retention, and time does not pass here. */
const retain = (cloud: TestCloud, sessionId: string, days: number) =>
  new DynamoDBClient().send(
    new UpdateItemCommand({
      TableName: cloud.environment['WALKBACK_SESSIONS_TABLE'],
      Key: { pk: { S: `SESSION#${sessionId}` }, sk: { S: 'META' } },
      UpdateExpression: 'SET retentionDays = :days',
      ExpressionAttributeValues: { ':days': { N: String(days) } },
      ConditionExpression: 'attribute_exists(retentionDays)',
    }),
  );

longTest(
  'a fork outlives its source, which goes whole; when the fork goes too, nothing is left',
  async () => {
    await using cloud = await startTestCloud();
    const stage = mergeStage(cloud);
    const world = await openWorld(cloud, {
      sessionId: 'source',
      paths: PATHS,
      settings: { retentionDays: 1 },
    });
    shell(world.root, 'echo w > api/w; cd web; git commit -q --allow-empty -m second');
    await world.checkpoint('t1', 'msg-1');
    const fork = await stage.forkOf(world);
    await retain(cloud, fork.sessionId, 100);
    shell(fork.root, 'echo f > api/f; echo f > web/f');
    const checkpointId = await fork.checkpoint('f1');
    const looks = fork.looks();
    await cloud.settled();
    const before = await storedKeys(cloud);
    expect(before.filter(isOf('source')).length).toBeGreaterThan(0);
    const bases = before.filter((key) => key.startsWith('bases/'));
    expect(bases.length).toBeGreaterThanOrEqual(PATHS.length);

    await expire(cloud, 5);
    await expect(world.timeline()).rejects.toMatchObject({ errorType: 'SessionNotFound' });
    const after = await storedKeys(cloud);
    expect(after.filter((key) => !isOf(fork.sessionId)(key) && !key.startsWith('bases/'))).toEqual([]);
    const { sandboxId } = await cloud.invoke('rehydrate', { sessionId: fork.sessionId, checkpointId });
    expect(fingerprint(rootOf(cloud, String(sandboxId)), PATHS)).toEqual(looks);
    await expect(stage.merge(world, fork, 'm')).rejects.toMatchObject({ errorType: 'SessionNotFound' });

    await cloud.invoke('end-session', { sessionId: fork.sessionId, discard: true });
    await expire(cloud, 400);
    expect(await storedKeys(cloud)).toEqual([]);
  },
);

longTest('a fork that is discarded goes by itself, and its source loses nothing', async () => {
  await using cloud = await startTestCloud();
  const stage = mergeStage(cloud);
  const world = await openWorld(cloud, {
    sessionId: 'source',
    paths: PATHS,
    settings: { retentionDays: 100 },
  });
  const kept = await world.checkpoint('t1', 'msg-1');
  const others = await storedKeys(cloud);
  await retain(cloud, 'source', 1);
  const fork = await stage.forkOf(world);
  await retain(cloud, 'source', 100);
  shell(fork.root, 'echo f > api/f');
  await fork.checkpoint('f1');
  await cloud.invoke('end-session', { sessionId: fork.sessionId, discard: true });
  await cloud.settled();
  // No history was sent again.
  expect((await storedKeys(cloud)).filter((key) => key.startsWith('bases/'))).toEqual(
    others.filter((key) => key.startsWith('bases/')),
  );

  await expire(cloud, 6);
  expect(await storedKeys(cloud)).toEqual(others);
  const { sandboxId } = await cloud.invoke('rehydrate', {
    sessionId: 'source',
    checkpointId: kept.checkpointId,
  });
  expect(fingerprint(rootOf(cloud, String(sandboxId)), PATHS)).toEqual(kept.looks);
});

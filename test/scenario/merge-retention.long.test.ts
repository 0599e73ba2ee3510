/** A fork keeps what it needs of its source alive, and no more: real tables, real objects, items that expire. */
import { DynamoDBClient, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { ListObjectsV2Command, S3Client } from '@aws-sdk/client-s3';
import { expect, test } from 'vitest';
import { startTestCloud, type TestCloud } from '../support/cloud.ts';
import { mergeStage } from '../support/merge-stage.ts';
import { fingerprint, openWorld, rootOf, shell } from '../support/world.ts';

const PATHS = ['api', 'web'];
const DAY_MS = 86_400_000;

const keys = async (cloud: TestCloud): Promise<string[]> => {
  const Bucket = cloud.environment['WALKBACK_BUCKET'];
  const { Contents = [] } = await new S3Client().send(new ListObjectsV2Command({ Bucket }));
  return Contents.map(({ Key = '' }) => Key).toSorted();
};

const expire = async (cloud: TestCloud, days: number): Promise<void> => {
  await cloud.expireItems(new Date(Date.now() + days * DAY_MS));
  await cloud.settled();
};

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

const isOf = (sessionId: string) => (key: string) => key.startsWith(`sessions/${sessionId}/`);

test('a fork outlives its source, which goes whole; when the fork goes too, nothing is left', async () => {
  await using cloud = await startTestCloud();
  const stage = mergeStage(cloud);
  const world = await openWorld(cloud, { sessionId: 'source', paths: PATHS, settings: { retentionDays: 1 } });
  shell(world.root, 'echo w > api/w; cd web; git commit -q --allow-empty -m second');
  await world.checkpoint('t1', 'msg-1');
  const fork = await stage.forkOf(world);
  await retain(cloud, fork.sessionId, 100);
  shell(fork.root, 'echo f > api/f; echo f > web/f');
  const checkpointId = await fork.checkpoint('f1');
  const looks = fork.looks();
  await cloud.settled();
  const before = await keys(cloud);
  expect(before.filter(isOf('source')).length).toBeGreaterThan(0);
  const bases = before.filter((key) => key.startsWith('bases/'));
  expect(bases.length).toBeGreaterThanOrEqual(PATHS.length);

  await expire(cloud, 5);
  await expect(world.timeline()).rejects.toMatchObject({ errorType: 'SessionNotFound' });
  const after = await keys(cloud);
  expect(after.filter((key) => !isOf(fork.sessionId)(key) && !key.startsWith('bases/'))).toEqual([]);
  const { sandboxId } = await cloud.invoke('rehydrate', { sessionId: fork.sessionId, checkpointId });
  expect(fingerprint(rootOf(cloud, String(sandboxId)), PATHS)).toEqual(looks);
  await expect(stage.merge(world, fork, 'm')).rejects.toMatchObject({ errorType: 'SessionNotFound' });

  await cloud.invoke('end-session', { sessionId: fork.sessionId, discard: true });
  await expire(cloud, 400);
  expect(await keys(cloud)).toEqual([]);
});

test('a fork that is discarded goes by itself, and its source loses nothing', async () => {
  await using cloud = await startTestCloud();
  const stage = mergeStage(cloud);
  const world = await openWorld(cloud, {
    sessionId: 'source',
    paths: PATHS,
    settings: { retentionDays: 100 },
  });
  const kept = await world.checkpoint('t1', 'msg-1');
  const others = await keys(cloud);
  await retain(cloud, 'source', 1);
  const fork = await stage.forkOf(world);
  await retain(cloud, 'source', 100);
  shell(fork.root, 'echo f > api/f');
  await fork.checkpoint('f1');
  await cloud.invoke('end-session', { sessionId: fork.sessionId, discard: true });
  await cloud.settled();
  // No history was sent again.
  expect((await keys(cloud)).filter((key) => key.startsWith('bases/'))).toEqual(
    others.filter((key) => key.startsWith('bases/')),
  );

  await expire(cloud, 6);
  expect(await keys(cloud)).toEqual(others);
  const { sandboxId } = await cloud.invoke('rehydrate', {
    sessionId: 'source',
    checkpointId: kept.checkpointId,
  });
  expect(fingerprint(rootOf(cloud, String(sandboxId)), PATHS)).toEqual(kept.looks);
});

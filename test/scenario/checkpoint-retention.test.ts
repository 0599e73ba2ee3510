import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ListObjectsV2Command, S3Client } from '@aws-sdk/client-s3';
import { expect } from 'vitest';
import { startTestCloud, type TestCloud } from '../support/cloud.ts';
import { inTurn } from '../support/sampled-test.ts';
import { createRepositories, edit, fingerprint, openWorld, rootOf } from '../support/world.ts';

const test = inTurn('checkpoint-retention');

const PATHS = ['api', 'web'];
const DAY_MS = 86_400_000;

const keys = async (cloud: TestCloud): Promise<string[]> => {
  const Bucket = cloud.environment['WALKBACK_BUCKET'];
  const { Contents = [] } = await new S3Client().send(new ListObjectsV2Command({ Bucket }));
  return Contents.map(({ Key = '' }) => Key).toSorted();
};

const isOf = (sessionId: string) => (key: string) => key.startsWith(`sessions/${sessionId}/`);

const expire = async (cloud: TestCloud, days: number): Promise<void> => {
  await cloud.expireItems(new Date(Date.now() + days * DAY_MS));
  await cloud.settled();
};

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
    const before = await keys(cloud);
    const bases = before.filter((key) => key.startsWith('bases/'));
    // Shared: the second session made none.
    expect(bases).toHaveLength(PATHS.length);
    expect(before.filter(isOf('short')).length).toBeGreaterThan(PATHS.length);

    // Checkpoints live one retention, links two: a checkpoint never outlives what it needs.
    await expire(cloud, 1.5);
    await expect(short.timeline()).rejects.toMatchObject({ errorType: 'SessionNotFound' });
    expect(await keys(cloud)).toEqual(before);
    await expire(cloud, 3);
    expect(await keys(cloud)).toEqual(before.filter((key) => !isOf('short')(key)));

    const { sandboxId } = await cloud.invoke('rehydrate', {
      sessionId: 'long',
      checkpointId: kept.checkpointId,
    });
    expect(fingerprint(rootOf(cloud, String(sandboxId)), PATHS)).toEqual(kept.looks);
    edit(directory, 2, PATHS);
    await long.checkpoint('t2');

    await expire(cloud, 400);
    expect(await keys(cloud)).toEqual([]);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
});

/**
 * A rollback that fails because S3 fails, and that its caller gives up: whoever works on and takes an ordinary checkpoint hours
 * later loses nothing. One of the two ways in which S3 can fail here, the other one at another time.
 */
import { randomBytes } from 'node:crypto';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import { startTestCloud } from '../support/cloud.ts';
import { inTurn } from '../support/sampled-test.ts';
import { printedSeed, sampled } from '../support/sampling.ts';
import { edit, openWorld, type World } from '../support/world.ts';

const test = inTurn('rollback-given-up');

const PATHS = ['api', 'web'];

const WAYS = [
  {
    way: 'to the function, before it sends the restore',
    fault: {},
    /** Below what the function carries. */
    sizeBytes: 100_000,
  },
  {
    way: 'to the sandbox, in the restore itself',
    fault: { match: { method: 'GET', path: /X-Amz-Signature=/ } },
    /** Above it: the sandbox gets the bundle by a presigned URL. */
    sizeBytes: 12 * 1024 * 1024,
  },
];

/** What an agent does in the hours after: on paths that the rollback would change, beside them, and in git. */
const workOn = async (world: World): Promise<void> => {
  edit(world.root, 5, PATHS);
  edit(world.root, 6, PATHS);
  for (const path of PATHS) {
    await writeFile(join(world.root, path, 'mine.txt'), 'hours of work\n');
    await writeFile(join(world.root, path, 'name.txt'), 'changed since\n');
  }
};

test.each(sampled(WAYS, { every: 2, offset: printedSeed('rollback given up') }))(
  'a rollback is given up because S3 fails $way: the work done since stays, also with the next checkpoint',
  async ({ fault, sizeBytes }) => {
    await using cloud = await startTestCloud();
    const world = await openWorld(cloud, { paths: PATHS });
    edit(world.root, 1, PATHS);
    await writeFile(join(world.root, 'api/large.bin'), randomBytes(sizeBytes));
    const target = await world.checkpoint('target');
    edit(world.root, 2, PATHS);
    await rm(join(world.root, 'api/large.bin'));
    await world.checkpoint('before');

    // The sandbox lost its objects, so the target must come from the bucket, which is away.
    for (const path of PATHS) await rm(join(world.root, path, '.agent-shadow'), { recursive: true });
    const s3 = await cloud.interpose('s3', [{ ...fault, action: { kind: 'status', status: 503 } }]);
    await expect(world.rollback('given-up', target.checkpointId)).rejects.toMatchObject({
      errorType: expect.stringMatching(/^(?:StorageUnavailable|SandboxUnavailable|RollbackIncomplete)$/),
    });
    expect(s3.seen.some(({ action }) => action === 'status')).toBe(true);
    cloud.heal();

    await workOn(world);
    const looks = world.fingerprint();
    const later = await world.checkpoint('later');
    expect(later.looks, 'an ordinary checkpoint changes nothing').toEqual(looks);
    const { session, checkpoints } = await world.timeline();
    expect(session.busy).toBe(null);
    expect(checkpoints.find(({ seq }) => seq === session.headSeq)).toMatchObject({
      checkpointId: later.checkpointId,
      complete: true,
    });

    // What it holds is what was there, and the target can still be reached.
    await world.rollback('again', target.checkpointId);
    expect(world.fingerprint()).toEqual(target.looks);
    await world.rollback('back', later.checkpointId);
    expect(world.fingerprint()).toEqual(looks);
  },
);

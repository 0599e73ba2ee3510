import { randomBytes } from 'node:crypto';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import { startTestCloud } from '../support/cloud.ts';
import { isDataPlane, recordE2b, sequentialTrips } from '../support/e2b-recorder.ts';
import { inTurn } from '../support/sampled-test.ts';
import { edit, fingerprint, openWorld, rootOf, type World } from '../support/world.ts';

const test = inTurn('checkpoint-round-trips');

const loseShadows = async (world: World): Promise<void> => {
  for (const path of world.paths)
    await rm(join(world.root, path, '.agent-shadow'), { recursive: true, force: true });
};

test('round trips to the sandbox stay within their budget, also with many repositories', async () => {
  await using cloud = await startTestCloud();
  const paths = Array.from({ length: 4 }, (_, index) => `repo-${index}`);
  let whenReading = (): Promise<void> => Promise.resolve();
  let wrote = (): void => undefined;
  await using e2b = await recordE2b(cloud, async ({ method, path }) => {
    if (!path.startsWith('/files')) return;
    if (method === 'GET') await whenReading();
    else wrote();
  });
  const world = await openWorld(cloud, { paths });
  const trips = async <T>(work: () => Promise<T>): Promise<{ value: T; trips: number }> => {
    const before = e2b.requests.length;
    const value = await work();
    // Bundles that were read are removed while they are stored, so nothing waits for that.
    const waitedFor = e2b.requests
      .slice(before)
      .filter((one) => isDataPlane(one) && !/rm -rf -- \S*\/run-/.test(one.text));
    return { value, trips: sequentialTrips(waitedFor) };
  };

  edit(world.root, 1, paths);
  const small = await trips(() => world.checkpoint('small'));
  expect(small.trips).toBe(1);
  expect((await trips(() => world.checkpoint('unchanged'))).trips).toBe(1);

  for (const path of paths) await writeFile(join(world.root, path, 'noise.bin'), randomBytes(100_000));
  const large = await trips(() => world.checkpoint('large'));
  expect(large.trips).toBe(2);

  const back = await trips(() => world.rollback('back', small.value.checkpointId));
  expect(back.trips).toBeLessThanOrEqual(3);
  await loseShadows(world);
  const again = await trips(() => world.rollback('again', small.value.checkpointId));
  expect(again.trips).toBeLessThanOrEqual(3);

  // Objects are missing, and more than fits into an answer has changed as well: one goes in while the other comes out.
  // On loopback the second would be over too soon, so it waits here for the first.
  const writing = Promise.withResolvers<void>();
  wrote = () => writing.resolve();
  whenReading = () => writing.promise;
  edit(world.root, 2, paths);
  for (const path of paths) await writeFile(join(world.root, path, 'other.bin'), randomBytes(100_000));
  await loseShadows(world);
  const far = await trips(() => world.rollback('far', large.value.checkpointId));
  expect(world.fingerprint()).toEqual(large.value.looks);
  expect(far.trips).toBeLessThanOrEqual(3);

  const fresh = await trips(() => cloud.invoke('rehydrate', { sessionId: 's1' }));
  expect(fresh.trips).toBeLessThanOrEqual(4);
  expect(fingerprint(rootOf(cloud, String(fresh.value['sandboxId'])), paths)).toEqual(large.value.looks);
});

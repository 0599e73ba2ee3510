/** Calls of one turn are one. */
import { expect, test } from 'vitest';
import { batched } from '../../core/shared/batched.ts';
import { createWorkingStage } from '../support/fakes/stage.ts';

test('what is asked for in one turn is one call, and what comes later is another', async () => {
  const calls: number[][] = [];
  let later: Promise<void> | undefined;
  const add = batched<number>(async (items) => {
    calls.push(items);
    // Meanwhile.
    later ??= add(9);
  });
  await Promise.all([add(1), Promise.resolve().then(() => add(2)), add(3)]);
  await later;
  await add(4);
  expect(calls).toEqual([[1, 3, 2], [9], [4]]);
});

test('a failure is that of every call in it, and of no other', async () => {
  const add = batched<number>(async (items) => {
    if (items.includes(2)) throw new Error('no');
  });
  const first = await Promise.allSettled([add(1), add(2)]);
  expect(first.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  await add(3);
});

test('the bundles of a checkpoint are indexed by one request, before any of them is stored', async () => {
  const stage = await createWorkingStage();
  const done: string[] = [];
  const putUploads = stage.store.putUploads.bind(stage.store);
  stage.store.putUploads = async (uploads) => {
    const bundles = uploads.filter(({ key }) => key.endsWith('.bundle'));
    if (bundles.length > 0) done.push(`index ${bundles.length}`);
    await putUploads(uploads);
  };
  const put = stage.bucket.put.bind(stage.bucket);
  stage.bucket.put = async (key, bytes, sha256) => {
    if (key.endsWith('.bundle')) done.push('put');
    await put(key, bytes, sha256);
  };
  for (const path of ['api', 'web', 'late']) stage.edit(path, { 'new.txt': path });
  await stage.instance().checkpoint('m9', 't9');
  expect(done).toEqual(['index 3', 'put', 'put', 'put']);
});

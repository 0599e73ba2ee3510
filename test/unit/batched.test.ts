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

test('what is gathered for two turns takes in what one turn gathered', async () => {
  const calls: string[][] = [];
  const index = batched<string>(async (items) => void calls.push(items), 2);
  const join = batched<string>((items) => index(items.join('+')));
  await Promise.all([index('content'), join('a'), join('b')]);
  expect(calls).toEqual([['content', 'a+b']]);
});

test('a failure is that of every call in it, and of no other', async () => {
  const add = batched<number>(async (items) => {
    if (items.includes(2)) throw new Error('no');
  });
  const first = await Promise.allSettled([add(1), add(2)]);
  expect(first.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  await add(3);
});

test('all links of a checkpoint are one object, which is indexed before it is stored', async () => {
  const stage = await createWorkingStage();
  const done: string[] = [];
  const putUploads = stage.store.putUploads.bind(stage.store);
  stage.store.putUploads = async (uploads) => {
    done.push(...uploads.map(({ key }) => `index ${key}`));
    await putUploads(uploads);
  };
  const put = stage.bucket.put.bind(stage.bucket);
  stage.bucket.put = async (key, bytes, sha256) => {
    done.push(`put ${key}`);
    await put(key, bytes, sha256);
  };
  for (const path of ['api', 'web', 'late']) stage.edit(path, { 'new.txt': path });
  await stage.instance().checkpoint('m9', 't9');
  const bundles = [...stage.store.tables.links.values()].slice(-3).map(({ bundle }) => bundle);
  const [key = ''] = new Set(bundles.map((one) => one.key));
  expect(done).toEqual([`index ${key}`, `put ${key}`]);
  expect(bundles.map(({ key: one }) => one)).toEqual([key, key, key]);
  expect(new Set(bundles.map(({ at }) => at)).size).toBe(3);
});

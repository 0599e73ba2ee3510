/** A bucket of the embedded S3 that did not come on disk is not there: who tries again is told why, and not that it exists. */
import type Fs from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test, vi } from 'vitest';

const disk = { isBroken: false };

// Another file may have loaded the store before, with the real disk.
vi.resetModules();
vi.doMock('node:fs', async (original) => {
  const fs = await original<typeof Fs>();
  const fsync = (fd: number, done: (error: NodeJS.ErrnoException | null) => void): void =>
    disk.isBroken
      ? done(Object.assign(new Error('EIO: i/o error, fsync'), { code: 'EIO' }))
      : fs.fsync(fd, done);
  return { ...fs, fsync };
});

const { openObjectStore } = await import('../../local/s3/store.ts');
afterAll(() => {
  vi.doUnmock('node:fs');
  vi.resetModules();
});

const directory = await mkdtemp(join(tmpdir(), 'walkback-bucket-made-'));
afterAll(() => rm(directory, { recursive: true, force: true }));

test.each([false, true])('with object lock: %s', async (isLocking) => {
  const store = await openObjectStore(join(directory, String(isLocking)));
  disk.isBroken = true;
  for (let n = 0; n < 2; n++) {
    await expect(store.createBucket('bundles', { isLocking })).rejects.toMatchObject({ code: 'EIO' });
    await expect(store.requireBucket('bundles')).rejects.toMatchObject({ code: 'NoSuchBucket' });
  }
  disk.isBroken = false;
  await store.createBucket('bundles', { isLocking });
  expect(await store.isLocking('bundles')).toBe(isLocking);
  await expect(store.createBucket('bundles')).rejects.toMatchObject({ code: 'BucketAlreadyOwnedByYou' });
});

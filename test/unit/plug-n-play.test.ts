/** Under Yarn's Plug'n'Play, whose file handles stand in for those of Node in the whole process. */
import { mkdtemp, open, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, expect, test, vi } from 'vitest';
import { openFileTombstones } from '../../kit/file-tombstones.ts';
import { readRecord, type SandboxRecord, writeRecord } from '../../local/e2b/sandbox-record.ts';
import { openObjectStore } from '../../local/s3/store.ts';

const directory = await mkdtemp(join(tmpdir(), 'walkback-plug-n-play-'));
afterAll(() => rm(directory, { recursive: true, force: true }));

beforeEach(async () => {
  const handle = await open(directory, 'r');
  const handles = Object.getPrototypeOf(handle);
  await handle.close();
  for (const lacking of ['sync', 'datasync', Symbol.asyncDispose])
    vi.spyOn(handles, lacking).mockImplementation(() => {
      throw new Error('Method not implemented.');
    });
  const { writeFile } = handles;
  vi.spyOn(handles, 'writeFile').mockImplementation(function (this: unknown, data: unknown, ...options) {
    if (typeof data === 'string' || ArrayBuffer.isView(data)) return writeFile.call(this, data, ...options);
    throw new TypeError('The "data" argument must be of type string or an instance of Buffer.');
  });
});
afterEach(() => vi.restoreAllMocks());

test('tombstones that last', async () => {
  const tombstones = await openFileTombstones(join(directory, 'tombstones'));
  await tombstones.bury('saga-1:0');
  expect(await tombstones.isBuried('saga-1:0')).toBe(true);
  expect(await tombstones.claim?.('saga-1:0', 1)).toBe(true);
  expect(await tombstones.claim?.('saga-1:0', 1)).toBe(false);
});

test('the objects and the sandboxes of the embedded cloud', async () => {
  const store = await openObjectStore(join(directory, 's3'));
  await store.createBucket('bundles');
  const body = async function* () {
    yield Buffer.from('what was ');
    yield Buffer.from('captured');
  };
  const describe = (sizeBytes: number) => ({
    key: 'a',
    sizeBytes,
    etag: '',
    checksums: {},
    headers: {},
    lastModified: '2026-01-01T00:00:00.000Z',
  });
  await store.put('bundles', 'a', body(), describe, { createOnly: true });
  const object = await store.open('bundles', 'a');
  expect(Buffer.concat(await Array.fromAsync(object.read(0, 16))).toString()).toBe('what was captured');
  await object.close();
  const record: SandboxRecord = {
    sandboxId: 'sbx',
    templateId: 'base',
    accessToken: 'token',
    metadata: {},
    envs: {},
    mounts: [],
    state: 'running' as const,
    onTimeout: 'kill' as const,
    startedAtMs: 0,
    endAtMs: null,
  };
  await writeRecord(directory, record);
  expect(await readRecord(directory)).toEqual(record);
  expect(await readdir(directory)).toContain('sandbox.json');
});

/** Bundles in a bucket: against the S3 of the embedded cloud, and the requests that leave for any other. */
import { createHash } from 'node:crypto';
import { mkdtempDisposable, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  CreateBucketCommand,
  DeleteObjectsCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
} from '@aws-sdk/client-s3';
import { mockClient } from 'aws-sdk-client-mock';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createBundleStore } from '../../adapters/aws/bundles.ts';
import type { BundleStore } from '../../core/checkpoint/ports/stores.ts';
import { sha256Hex } from '../../core/shared/ids.ts';
import { startS3 } from '../../local/s3/server.ts';
import { failing } from '../support/fakes/failing.ts';

const region = 'us-east-1';
const credentials = { accessKeyId: 'local-key', secretAccessKey: 'local-secret' };
const client = (endpoint: string) =>
  new S3Client({ endpoint, region, credentials, forcePathStyle: true, maxAttempts: 1 });

const bundleOf = (key: string, content: string) => {
  const bytes = Buffer.from(content);
  const sha256 = sha256Hex(bytes);
  return { key, bytes, sha256, stored: { key, sizeBytes: bytes.length, sha256 } };
};

describe('the bucket', () => {
  let store: BundleStore;
  let s3: S3Client;
  let dataDir: string;
  const disposal = new AsyncDisposableStack();
  beforeAll(async () => {
    const directory = disposal.use(await mkdtempDisposable(join(tmpdir(), 'walkback-bundles-')));
    const server = await startS3({ dataDir: directory.path, credentials, region });
    disposal.defer(() => server.close());
    dataDir = directory.path;
    s3 = client(server.url);
    disposal.defer(() => s3.destroy());
    await s3.send(new CreateBucketCommand({ Bucket: 'bundles' }));
    store = createBundleStore({ bucket: 'bundles', client: s3 });
  });
  afterAll(() => disposal.disposeAsync());

  test('gives back what was put, with its size and hash', async () => {
    const { key, bytes, sha256, stored } = bundleOf('sessions/s/r/one.bundle', 'some bundle');
    await store.put(key, bytes, sha256);
    expect(await store.head(key)).toEqual({ sizeBytes: bytes.length, sha256 });
    expect(Buffer.from(await store.get(stored)).toString()).toBe('some bundle');
    await store.check(stored);
    expect(Buffer.from(await store.getStart(key, 4)).toString()).toBe('some');
    expect(Buffer.from(await store.getStart(key, 4000)).toString()).toBe('some bundle');
  });

  test('putting the same again is fine', async () => {
    const { key, bytes, sha256 } = bundleOf('again', 'same');
    await store.put(key, bytes, sha256);
    await store.put(key, bytes, sha256);
  });

  test('another object under the key is BundleCorrupt, and stays', async () => {
    const first = bundleOf('taken', 'first');
    await store.put(first.key, first.bytes, first.sha256);
    const second = bundleOf('taken', 'second');
    await failing(store.put(second.key, second.bytes, second.sha256), 'BundleCorrupt');
    expect(Buffer.from(await store.get(first.stored)).toString()).toBe('first');
  });

  test('what is not there is BundleMissing, or undefined when only asked about', async () => {
    const { stored } = bundleOf('nowhere', 'x');
    await failing(store.get(stored), 'BundleMissing');
    await failing(store.check(stored), 'BundleMissing');
    await failing(store.getStart('nowhere', 10), 'BundleMissing');
    expect(await store.head('nowhere')).toBeUndefined();
  });

  test('bytes that do not hash to what was recorded are BundleCorrupt', async () => {
    const { key, bytes, sha256, stored } = bundleOf('wrong', 'right');
    await store.put(key, bytes, sha256);
    await failing(store.get({ ...stored, sha256: '0'.repeat(64) }), 'BundleCorrupt');
    await failing(store.get({ ...stored, sizeBytes: 1 }), 'BundleCorrupt');
    await failing(store.check({ ...stored, sha256: '0'.repeat(64) }), 'BundleCorrupt');
    await failing(store.check({ ...stored, sizeBytes: 1 }), 'BundleCorrupt');
  });

  test('a file that somebody cut, emptied or wrote over is BundleCorrupt, and does not hide the others', async () => {
    for (const [n, damage] of [
      (path: string) => truncate(path, 5),
      (path: string) => truncate(path, 40),
      (path: string) => truncate(path, 0),
      (path: string) => writeFile(path, 'x'.repeat(400)),
    ].entries()) {
      const { key, bytes, sha256, stored } = bundleOf(`sessions/s/cut/${n}.bundle`, 'some bundle');
      await store.put(key, bytes, sha256);
      const name = createHash('sha256').update(key).digest('hex');
      await damage(join(dataDir, 'buckets', 'bundles', name.slice(0, 2), name));
      await failing(store.get(stored), 'BundleCorrupt');
      await failing(store.check(stored), 'BundleCorrupt');
      expect((await store.head(key))?.sizeBytes).not.toBe(bytes.length);
      const listed = await s3.send(
        new ListObjectsV2Command({ Bucket: 'bundles', Prefix: 'sessions/s/cut/' }),
      );
      expect(listed.Contents ?? []).toEqual([]);
      await store.delete([key]);
      await failing(store.get(stored), 'BundleMissing');
    }
  });

  test('an upload URL takes exactly its bytes, and no others', async () => {
    const { key, bytes, sha256, stored } = bundleOf('uploaded', 'a large bundle');
    const { url, headers } = await store.presignPut(stored, 60);
    const send = (body: string, more: Record<string, string> = {}) =>
      fetch(url, { method: 'PUT', headers: { ...headers, ...more }, body });
    expect((await send('another bundl!')).status).toBe(400);
    expect((await send('shorter', { 'content-length': '7' })).status).toBe(403);
    const { 'x-amz-checksum-sha256': _checksum, ...without } = headers;
    expect((await fetch(url, { method: 'PUT', headers: without, body: bytes })).status).toBe(403);
    expect(await store.head(key)).toBeUndefined();
    expect((await send('a large bundle')).status).toBe(200);
    expect(await store.head(key)).toEqual({ sizeBytes: bytes.length, sha256 });
    const tampered = url.replace('uploaded', 'elsewhere');
    expect((await fetch(tampered, { method: 'PUT', headers, body: bytes })).status).toBe(403);
  });

  test('a download URL needs nothing else', async () => {
    const { key, bytes, sha256, stored } = bundleOf('downloaded', 'content');
    await store.put(key, bytes, sha256);
    const { url, headers } = await store.presignGet(stored, 60);
    expect(headers).toEqual({});
    const answer = await fetch(url);
    expect(await answer.text()).toBe('content');
  });

  test('a link among others in one object is read, checked and downloaded by itself', async () => {
    const { key, bytes, sha256 } = bundleOf('joined', 'first, second, third');
    await store.put(key, bytes, sha256);
    const { stored } = bundleOf('joined', 'second');
    const link = { ...stored, at: 7 };
    expect(Buffer.from(await store.get(link)).toString()).toBe('second');
    await store.check(link);
    for (const wrong of [
      { ...link, at: 8 },
      { ...link, at: 15 },
      { ...link, at: 2000 },
    ]) {
      await failing(store.get(wrong), 'BundleCorrupt');
      await failing(store.check(wrong), 'BundleCorrupt');
    }
    await failing(store.get({ ...link, key: 'nowhere' }), 'BundleMissing');
    const { url, headers } = await store.presignGet(link, 60);
    expect(await (await fetch(url, { headers })).text()).toBe('second');
    expect((await fetch(url)).status).toBe(403);
    expect((await fetch(url, { headers: { range: 'bytes=0-20' } })).status).toBe(403);
  });

  test('deleting is idempotent', async () => {
    const { key, bytes, sha256 } = bundleOf('deleted', 'x');
    await store.put(key, bytes, sha256);
    await store.delete([key, 'never-was']);
    await store.delete([]);
    expect(await store.head(key)).toBeUndefined();
  });
});

describe('what leaves, and what comes back', () => {
  const mocked = () => {
    const s3 = client('http://127.0.0.1:9');
    const retry = { sleep: async () => undefined };
    return { mock: mockClient(s3), store: createBundleStore({ bucket: 'bundles', client: s3, retry }) };
  };
  const serviceError = (name: string, httpStatusCode?: number) =>
    Object.assign(new Error(name), { name, $metadata: { httpStatusCode } });
  const { key, bytes, sha256 } = bundleOf('k', 'bundle');

  test('a put carries its checksum and never overwrites', async () => {
    const { mock, store } = mocked();
    mock.on(PutObjectCommand).resolves({});
    await store.put(key, bytes, sha256);
    expect(mock.commandCalls(PutObjectCommand)[0]?.args[0].input).toMatchObject({
      Bucket: 'bundles',
      Key: 'k',
      ContentLength: bytes.length,
      ChecksumSHA256: Buffer.from(sha256, 'hex').toString('base64'),
      IfNoneMatch: '*',
    });
  });

  const ChecksumSHA256 = Buffer.from(sha256, 'hex').toString('base64');

  test('PreconditionFailed means somebody was faster', async () => {
    const { mock, store } = mocked();
    mock.on(PutObjectCommand).rejects(serviceError('PreconditionFailed', 412));
    mock.on(HeadObjectCommand).resolves({ ContentLength: bytes.length, ChecksumSHA256 });
    await store.put(key, bytes, sha256);
    expect(mock.commandCalls(HeadObjectCommand)[0]?.args[0].input).toMatchObject({
      ChecksumMode: 'ENABLED',
    });
  });

  test('ConditionalRequestConflict means try again, whatever is there', async () => {
    const { mock, store } = mocked();
    mock
      .on(PutObjectCommand)
      .rejectsOnce(serviceError('ConditionalRequestConflict', 409))
      .rejectsOnce(serviceError('ConditionalRequestConflict', 409))
      .resolves({});
    await store.put(key, bytes, sha256);
    expect(mock.commandCalls(PutObjectCommand)).toHaveLength(3);
    expect(mock.commandCalls(HeadObjectCommand)).toHaveLength(0);
  });

  test('what was faster and has gone again is put again', async () => {
    const { mock, store } = mocked();
    mock.on(PutObjectCommand).rejectsOnce(serviceError('PreconditionFailed', 412)).resolves({});
    mock.on(HeadObjectCommand).rejects(serviceError('NotFound', 404));
    await store.put(key, bytes, sha256);
    expect(mock.commandCalls(PutObjectCommand)).toHaveLength(2);
  });

  test('a collision that never ends is Throttled', async () => {
    const { mock, store } = mocked();
    mock.on(PutObjectCommand).rejects(serviceError('ConditionalRequestConflict', 409));
    const { retryable } = await failing(store.put(key, bytes, sha256), 'Throttled');
    expect(retryable).toBe(true);
  });

  test('an upload URL signs length and checksum as headers', async () => {
    const { store } = mocked();
    const { url, headers } = await store.presignPut({ key, sizeBytes: 6, sha256 }, 900);
    const query = new URL(url).searchParams;
    expect(query.get('X-Amz-SignedHeaders')).toBe('content-length;host;x-amz-checksum-sha256');
    expect(query.get('X-Amz-Expires')).toBe('900');
    expect(query.has('x-amz-checksum-sha256')).toBe(false);
    expect([...query.keys()].filter((name) => /checksum-(?!sha256)/.test(name))).toEqual([]);
    expect(headers).toEqual({
      'content-length': '6',
      'x-amz-checksum-sha256': Buffer.from(sha256, 'hex').toString('base64'),
    });
  });

  test('objects that could not be deleted are an error', async () => {
    const { mock, store } = mocked();
    mock.on(DeleteObjectsCommand).resolves({ Errors: [{ Key: 'k', Code: 'InternalError' }] });
    await failing(store.delete(['k']), 'StorageUnavailable');
  });

  test.each([
    ['SlowDown', 503, 'Throttled'],
    ['InternalError', 500, 'StorageUnavailable'],
    ['TimeoutError', undefined, 'StorageUnavailable'],
    ['NoSuchKey', 404, 'BundleMissing'],
    ['NoSuchBucket', 404, 'ConfigurationError'],
    ['AccessDenied', 403, 'ConfigurationError'],
  ] as const)('%s on a read is %s %s', async (name, status, expected) => {
    const { mock, store } = mocked();
    mock.onAnyCommand().rejects(serviceError(name, status));
    await failing(store.get({ key, sizeBytes: 6, sha256 }), expected);
  });
});

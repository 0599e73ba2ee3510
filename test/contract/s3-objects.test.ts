import { createHash, randomBytes } from 'node:crypto';
import { mkdtemp, mkdtempDisposable, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import {
  CreateBucketCommand,
  DeleteObjectCommand,
  DeleteObjectsCommand,
  GetObjectCommand,
  HeadBucketCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
} from '@aws-sdk/client-s3';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { startS3 } from '../../local/s3/server.ts';
import { openObjectStore } from '../../local/s3/store.ts';

const credentials = { accessKeyId: 'local-key', secretAccessKey: 'local-secret' };
const region = 'eu-west-1';
const Bucket = 'walkback-test';

let dataDir: string;
let server: Awaited<ReturnType<typeof startS3>>;
let s3: S3Client;

const clientOf = (endpoint: string, overrides: object = {}): S3Client =>
  new S3Client({ endpoint, region, credentials, forcePathStyle: true, maxAttempts: 1, ...overrides });

const nameOf = (promise: Promise<unknown>): Promise<string> =>
  promise.then(
    () => 'no error',
    (error: unknown) => (error instanceof Error ? error.name : String(error)),
  );

const textOf = async (key: string): Promise<string | undefined> =>
  (await s3.send(new GetObjectCommand({ Bucket, Key: key }))).Body?.transformToString();

const put = (key: string, body: string | Uint8Array, more: object = {}) =>
  s3.send(new PutObjectCommand({ Bucket, Key: key, Body: body, ...more }));

beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'walkback-s3-'));
  server = await startS3({ dataDir, credentials, region });
  s3 = clientOf(server.url);
  await s3.send(new CreateBucketCommand({ Bucket }));
});

afterEach(async () => {
  s3.destroy();
  await server.close();
  await rm(dataDir, { recursive: true });
});

describe('a conditional write during which its key is deleted', () => {
  test('is answered with ConditionalRequestConflict, and the next one with what is there', async () => {
    await using directory = await mkdtempDisposable(join(tmpdir(), 'walkback-s3-'));
    const store = await openObjectStore(directory.path);
    await store.createBucket(Bucket);
    const describeObject = (sizeBytes: number) => ({
      key: 'k',
      sizeBytes,
      etag: 'e',
      checksums: {},
      headers: {},
      lastModified: new Date().toISOString(),
    });
    const write = (meanwhile: () => Promise<void>) => {
      const body = async function* () {
        yield Buffer.from('first ');
        await meanwhile();
        yield Buffer.from('second');
      };
      return store.put(Bucket, 'k', body(), describeObject, { createOnly: true });
    };
    await expect(write(() => store.remove(Bucket, 'k'))).rejects.toMatchObject({
      code: 'ConditionalRequestConflict',
      status: 409,
    });
    await expect(store.open(Bucket, 'k')).rejects.toMatchObject({ code: 'NoSuchKey' });
    // Of two at once the first to end is stored.
    await expect(write(async () => void (await write(async () => undefined)))).rejects.toMatchObject({
      code: 'PreconditionFailed',
    });
    expect(await store.list(Bucket)).toHaveLength(1);
  });
});

describe('the local S3, through the real SDK', () => {
  test('stores an object and gives back its bytes, type, metadata and entity tag', async () => {
    const stored = await put('a/b.txt', 'hello', { ContentType: 'text/plain', Metadata: { owner: 'me' } });
    const answer = await s3.send(new GetObjectCommand({ Bucket, Key: 'a/b.txt' }));
    expect(await answer.Body?.transformToString()).toBe('hello');
    expect(answer.ContentType).toBe('text/plain');
    expect(answer.Metadata).toEqual({ owner: 'me' });
    expect(answer.ETag).toBe(stored.ETag);
    expect(answer.ETag).toBe(`"${createHash('md5').update('hello').digest('hex')}"`);
  });

  test('keeps an empty object', async () => {
    await put('empty', '');
    expect(await textOf('empty')).toBe('');
    expect((await s3.send(new HeadObjectCommand({ Bucket, Key: 'empty' }))).ContentLength).toBe(0);
  });

  test('answers checksums when asked, and only those that were sent', async () => {
    await put('sum', 'hello', { ChecksumAlgorithm: 'SHA256' });
    const head = await s3.send(new HeadObjectCommand({ Bucket, Key: 'sum', ChecksumMode: 'ENABLED' }));
    expect(head.ChecksumSHA256).toBe(createHash('sha256').update('hello').digest('base64'));
    expect(head.ChecksumType).toBe('FULL_OBJECT');
    const plain = clientOf(server.url, { responseChecksumValidation: 'WHEN_REQUIRED' });
    expect((await plain.send(new HeadObjectCommand({ Bucket, Key: 'sum' }))).ChecksumSHA256).toBeUndefined();
  });

  test.each(['SHA256', 'SHA1', 'CRC32'] as const)('checks a %s given with the body', async (algorithm) => {
    await put(algorithm, 'hello', { ChecksumAlgorithm: algorithm });
    expect(await textOf(algorithm)).toBe('hello');
    const wrong = { SHA256: 44, SHA1: 28, CRC32: 8 }[algorithm];
    const bytes = Buffer.alloc((wrong / 4) * 3 - (algorithm === 'SHA256' ? 1 : algorithm === 'SHA1' ? 1 : 2));
    const refused = put('wrong', 'hello', { [`Checksum${algorithm}`]: bytes.toString('base64') });
    expect(await nameOf(refused)).toBe('BadDigest');
    expect(await nameOf(textOf('wrong'))).toBe('NoSuchKey');
  });

  test('decodes aws-chunked bodies with a trailing checksum', async () => {
    const bytes = randomBytes(300_000);
    const pieces = [bytes.subarray(0, 1), bytes.subarray(1, 70_000), bytes.subarray(70_000)];
    await s3.send(
      new PutObjectCommand({
        Bucket,
        Key: 'streamed',
        Body: Readable.from(pieces),
        ContentLength: bytes.length,
        ChecksumAlgorithm: 'SHA256',
      }),
    );
    const answer = await s3.send(new GetObjectCommand({ Bucket, Key: 'streamed', ChecksumMode: 'ENABLED' }));
    expect(answer.ContentEncoding).toBeUndefined();
    expect(answer.ChecksumSHA256).toBe(createHash('sha256').update(bytes).digest('base64'));
    expect(Buffer.from((await answer.Body?.transformToByteArray()) ?? []).equals(bytes)).toBe(true);
  });

  test('streams 20 MiB both ways without holding it in memory', async () => {
    const block = randomBytes(1024 * 1024);
    const hash = createHash('sha256');
    for (let i = 0; i < 20; i += 1) hash.update(block);
    await s3.send(
      new PutObjectCommand({
        Bucket,
        Key: 'large',
        Body: Readable.from(Array.from({ length: 20 }, () => block)),
        ContentLength: 20 * block.length,
      }),
    );
    const answer = await s3.send(new GetObjectCommand({ Bucket, Key: 'large' }));
    const received = createHash('sha256');
    for await (const chunk of answer.Body as Readable) received.update(chunk as Buffer);
    expect(received.digest('hex')).toBe(hash.digest('hex'));
  });

  test.each([
    ['bytes=0-3', '0123', 'bytes 0-3/10'],
    ['bytes=7-', '789', 'bytes 7-9/10'],
    ['bytes=-2', '89', 'bytes 8-9/10'],
    ['bytes=8-99', '89', 'bytes 8-9/10'],
  ])('answers the range %s', async (Range, text, contentRange) => {
    await put('digits', '0123456789');
    const answer = await s3.send(new GetObjectCommand({ Bucket, Key: 'digits', Range }));
    expect(await answer.Body?.transformToString()).toBe(text);
    expect(answer.ContentRange).toBe(contentRange);
  });

  test('refuses a range outside the object', async () => {
    await put('digits', '0123456789');
    expect(await nameOf(s3.send(new GetObjectCommand({ Bucket, Key: 'digits', Range: 'bytes=10-' })))).toBe(
      'InvalidRange',
    );
  });

  test('does not overwrite with If-None-Match: *', async () => {
    await put('once', 'first', { IfNoneMatch: '*' });
    expect(await nameOf(put('once', 'second', { IfNoneMatch: '*' }))).toBe('PreconditionFailed');
    expect(await textOf('once')).toBe('first');
    await put('once', 'third');
    expect(await textOf('once')).toBe('third');
  });

  test('lets exactly one of many simultaneous If-None-Match writers win', async () => {
    const names = await Promise.all(
      Array.from({ length: 8 }, (_, i) => nameOf(put('race', String(i), { IfNoneMatch: '*' }))),
    );
    expect(names.filter((name) => name === 'no error')).toHaveLength(1);
    expect(names.filter((name) => name === 'PreconditionFailed')).toHaveLength(7);
  });

  test('replaces exactly the object that If-Match names', async () => {
    const { ETag = '' } = await put('version', 'first');
    expect(await nameOf(put('version', 'wrong', { IfMatch: '"0"' }))).toBe('PreconditionFailed');
    expect(await nameOf(put('nobody', 'wrong', { IfMatch: ETag }))).toBe('NoSuchKey');
    expect(await textOf('version')).toBe('first');
    await put('version', 'second', { IfMatch: ETag });
    expect(await nameOf(put('version', 'late', { IfMatch: ETag }))).toBe('PreconditionFailed');
    expect(await textOf('version')).toBe('second');
    expect(await nameOf(put('version', 'x', { IfMatch: 'no-etag' }))).toBe('NotImplemented');
  });

  test('lets exactly one of many simultaneous If-Match writers win', async () => {
    const { ETag = '' } = await put('turn', 'before');
    const names = await Promise.all(
      Array.from({ length: 8 }, (_, i) => nameOf(put('turn', String(i), { IfMatch: ETag }))),
    );
    expect(names.filter((name) => name === 'no error')).toHaveLength(1);
    expect(names.filter((name) => name === 'PreconditionFailed')).toHaveLength(7);
    expect(await textOf('turn')).toBe(String(names.indexOf('no error')));
  });

  test('deletes one and many objects, and treats absent ones as deleted', async () => {
    for (const key of ['x', 'y & <z>', 'keep']) await put(key, key);
    await s3.send(new DeleteObjectCommand({ Bucket, Key: 'x' }));
    await s3.send(new DeleteObjectCommand({ Bucket, Key: 'x' }));
    const answer = await s3.send(
      new DeleteObjectsCommand({ Bucket, Delete: { Objects: [{ Key: 'y & <z>' }, { Key: 'never' }] } }),
    );
    expect(answer.Deleted?.map(({ Key }) => Key)).toEqual(['y & <z>', 'never']);
    const rest = await s3.send(new ListObjectsV2Command({ Bucket }));
    expect(rest.Contents?.map(({ Key }) => Key)).toEqual(['keep']);
  });

  test('lists by prefix, in byte order, page by page, and folds by delimiter', async () => {
    const keys = ['a/1', 'a/2', 'a/b/3', 'a/ü', 'b/1', 'B', 'a/\u{1F600}', 'a/\uFFFD'];
    for (const key of keys) await put(key, key);
    const seen: string[] = [];
    let ContinuationToken: string | undefined;
    do {
      const page = await s3.send(
        new ListObjectsV2Command({ Bucket, Prefix: 'a/', MaxKeys: 2, ContinuationToken }),
      );
      expect(page.KeyCount).toBeLessThanOrEqual(2);
      seen.push(...(page.Contents ?? []).map(({ Key }) => Key ?? ''));
      ContinuationToken = page.NextContinuationToken;
    } while (ContinuationToken !== undefined);
    expect(seen).toEqual(['a/1', 'a/2', 'a/b/3', 'a/ü', 'a/\uFFFD', 'a/\u{1F600}']);
    const folded = await s3.send(new ListObjectsV2Command({ Bucket, Delimiter: '/', MaxKeys: 2 }));
    expect(folded.Contents?.map(({ Key }) => Key)).toEqual(['B']);
    expect(folded.CommonPrefixes?.map(({ Prefix }) => Prefix)).toEqual(['a/']);
    expect(folded.IsTruncated).toBe(true);
  });

  test.each([
    '../../../walkback-s3-escaped',
    'a/../b',
    './x',
    '/absolute',
    'a//b',
    'trailing/',
    '..',
    '%2e%2e%2fx',
    'sp ace+plus&amp;?#[]',
    'new\nline',
    'ünïcødé/日本/😀',
    'x'.repeat(1000),
  ])('keeps the key %j apart from every other and inside the data directory', async (key) => {
    await put(key, key);
    expect(await textOf(key)).toBe(key);
    const listed = await s3.send(new ListObjectsV2Command({ Bucket }));
    expect(listed.Contents?.map(({ Key }) => Key)).toEqual([key]);
    expect(await readdir(dataDir)).toEqual(['buckets', 'tmp']);
  });

  test('keeps keys that differ only in case apart', async () => {
    await put('Key', 'upper');
    await put('key', 'lower');
    expect([await textOf('Key'), await textOf('key')]).toEqual(['upper', 'lower']);
  });

  test('names what is missing', async () => {
    expect(await nameOf(s3.send(new GetObjectCommand({ Bucket, Key: 'none' })))).toBe('NoSuchKey');
    expect(await nameOf(s3.send(new HeadObjectCommand({ Bucket, Key: 'none' })))).toBe('NotFound');
    expect(await nameOf(s3.send(new GetObjectCommand({ Bucket: 'no-such', Key: 'a' })))).toBe('NoSuchBucket');
    expect(await nameOf(s3.send(new HeadBucketCommand({ Bucket: 'no-such' })))).toBe('NotFound');
    expect(await nameOf(s3.send(new ListObjectsV2Command({ Bucket: 'no-such' })))).toBe('NoSuchBucket');
    expect(await nameOf(s3.send(new CreateBucketCommand({ Bucket })))).toBe('BucketAlreadyOwnedByYou');
  });

  test('refuses what it does not support instead of storing something else', async () => {
    const copy = fetch(`${server.url}/${Bucket}/x?acl`, { method: 'PUT' });
    expect((await copy).status).toBe(403);
    expect(await nameOf(put('x', 'y', { IfNoneMatch: '"abc"' }))).toBe('NotImplemented');
    expect(await nameOf(put('x', 'y', { ChecksumAlgorithm: 'CRC32C' }))).not.toBe('no error');
  });

  test('refuses a port that is taken, and leaves the directory alone', async () => {
    await put('there', 'x');
    const { port } = server;
    await writeFile(join(dataDir, 'tmp', 'unfinished'), '');
    await expect(startS3({ dataDir, credentials, region, place: port })).rejects.toMatchObject({
      name: 'ConfigurationError',
      details: { port },
    });
    expect(await readdir(join(dataDir, 'tmp'))).toEqual(['unfinished']);
  });

  test('keeps objects and buckets over a restart', async () => {
    await put('kept', 'still here');
    await server.close();
    server = await startS3({ dataDir, credentials, region });
    s3 = clientOf(server.url);
    expect(await textOf('kept')).toBe('still here');
    await s3.send(new HeadBucketCommand({ Bucket }));
  });

  test('keeps the version a reader has opened while it is replaced', async () => {
    const old = randomBytes(4 * 1024 * 1024);
    await put('replaced', old);
    const answer = await s3.send(new GetObjectCommand({ Bucket, Key: 'replaced' }));
    await put('replaced', 'new');
    expect((await buffer(answer.Body as Readable)).equals(old)).toBe(true);
    expect(await textOf('replaced')).toBe('new');
  });
});

describe('who may speak to the local S3', () => {
  test.each([
    [{ credentials: { ...credentials, secretAccessKey: 'wrong' } }, 'SignatureDoesNotMatch'],
    [{ credentials: { ...credentials, accessKeyId: 'other' } }, 'InvalidAccessKeyId'],
    [{ region: 'us-east-1' }, 'AuthorizationHeaderMalformed'],
    [{ systemClockOffset: 3_600_000 }, 'RequestTimeTooSkewed'],
  ])('refuses a client with %j', async (overrides, name) => {
    const stranger = clientOf(server.url, overrides);
    expect(await nameOf(stranger.send(new PutObjectCommand({ Bucket, Key: 'k', Body: 'x' })))).toBe(name);
    expect(await nameOf(textOf('k'))).toBe('NoSuchKey');
  });

  test('refuses an unsigned request', async () => {
    const answer = await fetch(`${server.url}/${Bucket}/k`);
    expect(answer.status).toBe(403);
    expect(await answer.text()).toContain('<Code>AccessDenied</Code>');
  });
});

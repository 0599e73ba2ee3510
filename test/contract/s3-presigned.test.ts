import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import {
  CreateBucketCommand,
  GetObjectCommand,
  HeadObjectCommand,
  PutObjectCommand,
  S3Client,
} from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { startS3 } from '../../local/s3/server.ts';

const run = promisify(execFile);
const credentials = { accessKeyId: 'local-key', secretAccessKey: 'local-secret' };
const region = 'eu-west-1';
const Bucket = 'walkback-test';
const CONTENT = 'a bundle, byte for byte';
const SHA256 = createHash('sha256').update(CONTENT).digest('base64');

let dataDir: string;
let server: Awaited<ReturnType<typeof startS3>>;
let s3: S3Client;
let count = 0;
let Key: string;

/** As the functions presign an upload: key, length and hash are signed, and sent as headers. */
const presignPut = (more: object = {}, options: object = {}): Promise<string> =>
  getSignedUrl(
    s3,
    new PutObjectCommand({ Bucket, Key, ContentLength: CONTENT.length, ChecksumSHA256: SHA256, ...more }),
    {
      expiresIn: 60,
      unhoistableHeaders: new Set(['x-amz-checksum-sha256']),
      signableHeaders: new Set(['host', 'content-length', 'x-amz-checksum-sha256', 'if-none-match']),
      ...options,
    },
  );

const put = async (url: string, body: string, headers: Record<string, string> = {}) => {
  const answer = await fetch(url, {
    method: 'PUT',
    body,
    headers: { 'x-amz-checksum-sha256': SHA256, ...headers },
  });
  return { status: answer.status, code: /<Code>(\w+)</.exec(await answer.text())?.[1] };
};

/** The same day, so that the scope still fits. */
const laterBySeconds = (url: URL): string =>
  (url.searchParams.get('X-Amz-Date') ?? '').replace(/\d(?=Z$)/, (d) => `${(Number(d) + 1) % 10}`);

const exists = (): Promise<boolean> =>
  s3.send(new HeadObjectCommand({ Bucket, Key })).then(
    () => true,
    () => false,
  );

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'walkback-s3-'));
  server = await startS3({ dataDir, credentials, region });
  s3 = new S3Client({
    endpoint: server.url,
    region,
    credentials,
    forcePathStyle: true,
    maxAttempts: 1,
    requestChecksumCalculation: 'WHEN_REQUIRED',
  });
  await s3.send(new CreateBucketCommand({ Bucket }));
});

beforeEach(() => {
  count += 1;
  Key = `sessions/s1/${count}/x y+z.bundle`;
});

afterAll(async () => {
  s3.destroy();
  await server.close();
  await rm(dataDir, { recursive: true });
});

describe('a presigned upload with signed length and hash', () => {
  test('accepts exactly the content it was signed for', async () => {
    const url = await presignPut();
    expect(new URL(url).searchParams.get('X-Amz-SignedHeaders')).toBe(
      'content-length;host;x-amz-checksum-sha256',
    );
    expect(await put(url, CONTENT)).toEqual({ status: 200, code: undefined });
    const head = await s3.send(new HeadObjectCommand({ Bucket, Key, ChecksumMode: 'ENABLED' }));
    expect(head).toMatchObject({ ContentLength: CONTENT.length, ChecksumSHA256: SHA256 });
  });

  test('works with curl, as the sandbox does it', async () => {
    const file = join(dataDir, 'upload');
    await writeFile(file, CONTENT);
    const flags = ['-sS', '-f', '-X', 'PUT', '-T', file, '-H', `x-amz-checksum-sha256: ${SHA256}`];
    await run('curl', [...flags, await presignPut()]);
    await rm(file);
    expect(await exists()).toBe(true);
  });

  test('refuses other content of the same length', async () => {
    const other = CONTENT.replace('bundle', 'BUNDLE');
    expect(await put(await presignPut(), other)).toEqual({ status: 400, code: 'BadDigest' });
    expect(await exists()).toBe(false);
  });

  test('refuses other content with its own hash', async () => {
    const other = CONTENT.replace('bundle', 'BUNDLE');
    const hash = createHash('sha256').update(other).digest('base64');
    expect(await put(await presignPut(), other, { 'x-amz-checksum-sha256': hash })).toEqual({
      status: 403,
      code: 'SignatureDoesNotMatch',
    });
    expect(await exists()).toBe(false);
  });

  test.each(['shorter', `${CONTENT} and more`])('refuses another length: %j', async (body) => {
    expect(await put(await presignPut(), body)).toEqual({ status: 403, code: 'SignatureDoesNotMatch' });
    expect(await exists()).toBe(false);
  });

  test('refuses a body without its hash', async () => {
    const answer = await fetch(await presignPut(), { method: 'PUT', body: CONTENT });
    expect(answer.status).toBe(403);
    expect(await exists()).toBe(false);
  });

  test.each(['Key', 'X-Amz-Expires', 'X-Amz-Date', 'X-Amz-SignedHeaders', 'X-Amz-Signature', 'extra'])(
    'refuses a URL whose %s was changed',
    async (part) => {
      const url = new URL(await presignPut());
      if (part === 'Key') url.pathname += '2';
      else if (part === 'extra') url.searchParams.set('x-amz-meta-owner', 'me');
      else if (part === 'X-Amz-Expires') url.searchParams.set(part, '3600');
      else if (part === 'X-Amz-Date') url.searchParams.set(part, laterBySeconds(url));
      else if (part === 'X-Amz-SignedHeaders') url.searchParams.set(part, 'host');
      else
        url.searchParams.set(
          part,
          (url.searchParams.get(part) ?? '').replace(/\d/, (d) => `${9 - Number(d)}`),
        );
      expect((await put(url.href, CONTENT)).status).toBe(403);
      expect(await exists()).toBe(false);
    },
  );

  test('takes a URL that lives seven days, and refuses one that says it lives longer', async () => {
    const week = 7 * 24 * 3600;
    const url = new URL(await presignPut({}, { expiresIn: week }));
    url.searchParams.set('X-Amz-Expires', String(week + 1));
    expect(await put(url.href, CONTENT)).toEqual({
      status: 400,
      code: 'AuthorizationQueryParametersError',
    });
    expect((await put(await presignPut({}, { expiresIn: week }), CONTENT)).status).toBe(200);
  });

  test('refuses headers that were not signed', async () => {
    const answer = await put(await presignPut(), CONTENT, { 'x-amz-meta-owner': 'me' });
    expect(answer).toEqual({ status: 403, code: 'AccessDenied' });
    expect(await exists()).toBe(false);
  });

  test('refuses an expired URL', async () => {
    const url = await presignPut({}, { signingDate: new Date(Date.now() - 61_000) });
    expect(await put(url, CONTENT)).toEqual({ status: 403, code: 'AccessDenied' });
    expect(await exists()).toBe(false);
  });

  test('does not overwrite when If-None-Match is signed', async () => {
    const url = await presignPut(
      { IfNoneMatch: '*' },
      { unhoistableHeaders: new Set(['x-amz-checksum-sha256']) },
    );
    expect((await put(url, CONTENT, { 'if-none-match': '*' })).status).toBe(200);
    expect(await put(url, CONTENT, { 'if-none-match': '*' })).toEqual({
      status: 412,
      code: 'PreconditionFailed',
    });
    expect((await put(url, CONTENT)).status).toBe(403);
  });

  test('stores nothing when the client stops half way', async () => {
    const url = await presignPut();
    const headers = { 'content-length': CONTENT.length, 'x-amz-checksum-sha256': SHA256 };
    const upload = request(url, { method: 'PUT', headers }).on('error', () => undefined);
    await new Promise<void>((done) => upload.write(CONTENT.slice(0, 5), () => done()));
    await vi.waitFor(async () => expect(await readdir(join(dataDir, 'tmp'))).toHaveLength(1), 60_000);
    upload.destroy();
    await vi.waitFor(async () => expect(await readdir(join(dataDir, 'tmp'))).toEqual([]), 60_000);
    expect(await exists()).toBe(false);
  });
});

describe('a presigned URL as the SDK makes it by default', () => {
  test('carries the hash in the query, which counts as much', async () => {
    const url = await getSignedUrl(s3, new PutObjectCommand({ Bucket, Key, ChecksumSHA256: SHA256 }));
    expect((await fetch(url, { method: 'PUT', body: 'something else' })).status).toBe(400);
    expect(await exists()).toBe(false);
    expect((await fetch(url, { method: 'PUT', body: CONTENT })).status).toBe(200);
  });

  test('reads an object, whole and in part, and only with its own method', async () => {
    await put(await presignPut(), CONTENT);
    const url = await getSignedUrl(s3, new GetObjectCommand({ Bucket, Key }), { expiresIn: 60 });
    expect(await (await fetch(url)).text()).toBe(CONTENT);
    expect(await (await fetch(url, { headers: { range: 'bytes=2-7' } })).text()).toBe('bundle');
    expect((await fetch(url, { method: 'DELETE' })).status).toBe(403);
    expect(await exists()).toBe(true);
  });
});

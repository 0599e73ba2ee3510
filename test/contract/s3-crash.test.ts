import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { PassThrough } from 'node:stream';
import {
  CreateBucketCommand,
  GetObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
} from '@aws-sdk/client-s3';
import { expect, test, vi } from 'vitest';
import { startS3 } from '../../local/s3/server.ts';

const credentials = { accessKeyId: 'k', secretAccessKey: 's' };
const region = 'eu-west-1';
const Bucket = 'crash';

const PROGRAM = `
import { startS3 } from ${JSON.stringify(new URL('../../local/s3/server.ts', import.meta.url).href)};
const options = { credentials: ${JSON.stringify(credentials)}, region: '${region}' };
const server = await startS3({ dataDir: process.argv[1], ...options });
console.log(server.url);
`;

const spawnServer = async (dataDir: string) => {
  const child = spawn(process.execPath, ['--input-type=module', '-e', PROGRAM, dataDir], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [url]: unknown[] = await once(createInterface(child.stdout), 'line');
  return { url: String(url), child, exited: once(child, 'exit') };
};

const clientOf = (endpoint: string): S3Client =>
  new S3Client({ endpoint, region, credentials, forcePathStyle: true, maxAttempts: 1 });

test('shows no half object after kill -9, keeps the old one, and cleans up at the next start', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'walkback-s3-'));
  const crashing = await spawnServer(dataDir);
  const s3 = clientOf(crashing.url);
  await s3.send(new CreateBucketCommand({ Bucket }));
  await s3.send(new PutObjectCommand({ Bucket, Key: 'replaced', Body: 'old' }));
  const body = new PassThrough();
  const upload = s3
    .send(new PutObjectCommand({ Bucket, Key: 'replaced', Body: body, ContentLength: 4 * 1024 * 1024 }))
    .catch((error: unknown) => error);
  body.write(randomBytes(1024 * 1024));
  await vi.waitFor(async () => expect(await readdir(join(dataDir, 'tmp'))).toHaveLength(1), 60_000);
  crashing.child.kill('SIGKILL');
  await crashing.exited;
  body.destroy();
  expect(await upload).toBeInstanceOf(Error);
  s3.destroy();

  const server = await startS3({ dataDir, credentials, region });
  const again = clientOf(server.url);
  expect(await readdir(join(dataDir, 'tmp'))).toEqual([]);
  const listed = await again.send(new ListObjectsV2Command({ Bucket }));
  expect(listed.Contents?.map(({ Key, Size }) => [Key, Size])).toEqual([['replaced', 3]]);
  const found = await again.send(new GetObjectCommand({ Bucket, Key: 'replaced' }));
  expect(await found.Body?.transformToString()).toBe('old');
  again.destroy();
  await server.close();
  await rm(dataDir, { recursive: true });
});

import { createHash, randomBytes } from 'node:crypto';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient, QueryCommand } from '@aws-sdk/lib-dynamodb';
import { expect } from 'vitest';
import { startTestCloud } from '../support/cloud.ts';
import { recordE2b } from '../support/e2b-recorder.ts';
import { inTurn } from '../support/sampled-test.ts';
import { shared } from '../support/shared.ts';
import { fingerprint, openWorld, type Recorded, rootOf } from '../support/world.ts';

const test = inTurn('checkpoint-large');

const cloud = shared(startTestCloud);

const sha256 = (data: Uint8Array): string => createHash('sha256').update(data).digest('hex');

test('a 12 MiB file goes straight to the bucket and back, and no signed URL is where a daemon logs it', async () => {
  const world = await openWorld(cloud(), { sessionId: 'large', paths: ['api'] });
  const content = randomBytes(12 * 1024 * 1024);
  await writeFile(join(world.root, 'api/large.bin'), content);
  await using e2b = await recordE2b(cloud());
  const s3 = await cloud().interpose('s3');
  const checkpoint = await world.checkpoint('t1');
  const isSigned = ({ path }: { path: string }) => path.includes('X-Amz-Signature=');
  expect(s3.seen.filter((one) => one.method === 'PUT' && isSigned(one))).toHaveLength(1);

  const { sandboxId } = await cloud().invoke('rehydrate', { sessionId: 'large' });
  expect(s3.seen.filter((one) => one.method === 'GET' && isSigned(one))).toHaveLength(1);
  const root = rootOf(cloud(), String(sandboxId));
  expect(fingerprint(root, ['api'])).toEqual(checkpoint.looks);
  expect(sha256(await readFile(join(root, 'api/large.bin')))).toBe(sha256(content));

  await rm(join(world.root, 'api/.agent-shadow'), { recursive: true });
  await rm(join(world.root, 'api/large.bin'));
  await world.rollback('r1', checkpoint.checkpointId);
  expect(fingerprint(world.root, ['api'])).toEqual(checkpoint.looks);

  const secret = /X-Amz-|Signature=|AWS4-HMAC/i;
  const logged = e2b.requests.filter(({ path }) => !path.startsWith('/files'));
  const files = e2b.requests.filter(({ path }) => path.startsWith('/files'));
  expect(logged.length).toBeGreaterThan(3);
  // A start's body is a Connect envelope of JSON: command, environment and arguments in the clear.
  for (const { path, text } of logged) expect(text, path).not.toMatch(secret);
  for (const { path } of files) expect(path).not.toMatch(secret);
  // They did travel: in the content of files, which the daemon does not log.
  expect(files.some(({ text }) => secret.test(text))).toBe(true);
});

/** Chain of each link item of a session, and its place in it. */
const linksOf = async (sessionId: string): Promise<{ chainId: string; link: number }[]> => {
  const client = DynamoDBDocumentClient.from(new DynamoDBClient());
  const { Items = [] } = await client.send(
    new QueryCommand({
      TableName: cloud().environment['WALKBACK_SESSIONS_TABLE'],
      KeyConditionExpression: 'pk = :pk AND begins_with(sk, :links)',
      ExpressionAttributeValues: { ':pk': `SESSION#${sessionId}`, ':links': 'LINK#' },
    }),
  );
  return Items.map((item) => ({ chainId: String(item['chainId']), link: Number(item['link']) }));
};

test('a chain that became too heavy starts over, and an old and a new checkpoint can be rebuilt', async () => {
  const world = await openWorld(cloud(), { sessionId: 'long', paths: ['api'] });
  const recorded: Recorded[] = [];
  for (let n = 1; n <= 7; n++) {
    // Links of 1 MiB on a base of a few bytes: the fifth after the first is over the floor of 4 MiB.
    await writeFile(join(world.root, 'api/noise.bin'), randomBytes(1024 * 1024));
    recorded.push(await world.checkpoint(`t${n}`));
  }
  const links = await linksOf('long');
  expect(new Set(links.map(({ chainId }) => chainId)).size).toBe(2);
  for (const n of [0, 6]) {
    const { checkpointId, looks } = recorded[n] ?? expect.fail(`no checkpoint ${n}`);
    const { sandboxId } = await cloud().invoke('rehydrate', { sessionId: 'long', checkpointId });
    expect(fingerprint(rootOf(cloud(), String(sandboxId)), ['api']), `checkpoint ${n}`).toEqual(looks);
  }
});

/**
 * Another user of the machine and `walkback up`: every port that the cloud and its processes listen on is one of its
 * endpoints, each of which refuses a request without the key or with another, and no file can be read.
 */
import { lstat, readdir, readFile, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import { DynamoDBClient, ListTablesCommand, ScanCommand } from '@aws-sdk/client-dynamodb';
import { DynamoDBStreamsClient, ListStreamsCommand } from '@aws-sdk/client-dynamodb-streams';
import { EventBridgeClient, PutEventsCommand } from '@aws-sdk/client-eventbridge';
import { InvokeCommand, LambdaClient } from '@aws-sdk/client-lambda';
import { GetObjectCommand, ListObjectsV2Command, S3Client } from '@aws-sdk/client-s3';
import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { ListExecutionsCommand, SFNClient } from '@aws-sdk/client-sfn';
import { Sandbox } from 'e2b';
import { expect, test } from 'vitest';
import { startTestCloud } from '../support/cloud.ts';
import { childrenOf } from '../support/processes.ts';
import { shared } from '../support/shared.ts';

const listenedBefore = shared(async () => new Set(await listeningPorts()));
const cloud = shared(startTestCloud);

const LISTEN = '0A';

/** This process and all it started. */
const family = (): number[] => {
  const found = [process.pid];
  for (const pid of found) found.push(...childrenOf(pid));
  return found;
};

const socketsOf = async (pid: number): Promise<string[]> => {
  const names = await readdir(`/proc/${pid}/fd`).catch(() => []);
  const links = await Promise.all(names.map((name) => readlink(`/proc/${pid}/fd/${name}`).catch(() => '')));
  return links.flatMap((link) => /^socket:\[(\d+)\]$/.exec(link)?.[1] ?? []);
};

/** Every TCP port that this process or one it started listens on, whatever the address. */
const listeningPorts = async (): Promise<number[]> => {
  const sockets = new Set((await Promise.all(family().map(socketsOf))).flat());
  const tables = await Promise.all(
    ['tcp', 'tcp6'].map((name) => readFile(`/proc/net/${name}`, 'utf8').catch(() => '')),
  );
  return tables
    .join('\n')
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .filter((fields) => fields[3] === LISTEN && sockets.has(fields[9] ?? ''))
    .map((fields) => Number.parseInt(fields[1]?.split(':')[1] ?? '', 16));
};

test('every port that the cloud opens is one of its endpoints', async () => {
  const endpoints = [...new Set(Object.values(cloud().endpoints).map((url) => Number(new URL(url).port)))];
  // The test runner may listen too, but in a process above this one. Files before this one may have left servers.
  const ascending = (a: number, b: number): number => a - b;
  expect((await listeningPorts()).filter((port) => !listenedBefore().has(port)).sort(ascending)).toEqual(
    endpoints.sort(ascending),
  );
  // For programs, to sign in, and for the API with the console.
  expect(endpoints).toHaveLength(3);
});

test.each([
  ['GET', '/'],
  ['POST', '/'],
  ['PUT', '/'],
  ['DELETE', '/'],
  ['OPTIONS', '/'],
  ['GET', '/sandboxes'],
  ['POST', '/v2/sandboxes'],
  ['POST', '/2015-03-31/functions/walkback-timeline/invocations'],
  ['POST', '/process.Process/List'],
])('no endpoint does anything for %s %s without a key', async (method, path) => {
  const targets = [
    'DynamoDB_20120810.ListTables',
    'AWSStepFunctions.ListStateMachines',
    'AWSEvents.PutEvents',
  ];
  for (const [service, url] of Object.entries(cloud().endpoints))
    for (const target of targets) {
      const answer = await fetch(url + path, {
        method,
        headers: { 'x-amz-target': target, 'content-type': 'application/x-amz-json-1.0' },
        ...(method !== 'GET' && { body: '{}' }),
      });
      const text = await answer.text();
      expect([service, answer.status >= 400, text]).toEqual([
        service,
        true,
        expect.not.stringContaining('TableNames'),
      ]);
    }
});

test('no endpoint does anything for a request with another key, or with the key’s name and another secret', async () => {
  const { AWS_ACCESS_KEY_ID: known = '', WALKBACK_BUCKET: Bucket = '' } = cloud().environment;
  const keys = [
    { accessKeyId: 'AKIAIOSFODNN7EXAMPLE', secretAccessKey: 'guess' },
    { accessKeyId: known, secretAccessKey: 'guess' },
  ];
  for (const credentials of keys) {
    const to = (endpoint: string) => ({ region: 'us-east-1', endpoint, credentials, maxAttempts: 1 });
    const { dynamodb, s3, lambda, events, secrets, stepfunctions } = cloud().endpoints;
    const bucket = new S3Client({ ...to(s3), forcePathStyle: true });
    const tables = new DynamoDBClient(to(dynamodb));
    const asked = [
      tables.send(new ListTablesCommand({})),
      tables.send(new ScanCommand({ TableName: cloud().environment['WALKBACK_SESSIONS_TABLE'] ?? '' })),
      new DynamoDBStreamsClient(to(dynamodb)).send(new ListStreamsCommand({})),
      bucket.send(new ListObjectsV2Command({ Bucket })),
      bucket.send(new GetObjectCommand({ Bucket, Key: 'x' })),
      new LambdaClient(to(lambda)).send(new InvokeCommand({ FunctionName: 'walkback-timeline' })),
      new EventBridgeClient(to(events)).send(new PutEventsCommand({ Entries: [] })),
      new SecretsManagerClient(to(secrets)).send(
        new GetSecretValueCommand({ SecretId: 'walkback/e2b-api-key' }),
      ),
      new SFNClient(to(stepfunctions)).send(
        new ListExecutionsCommand({
          stateMachineArn: 'arn:aws:states:us-east-1:000000000000:stateMachine:saga',
        }),
      ),
    ];
    const refused = (await Promise.allSettled(asked)).map((one) =>
      one.status === 'rejected' ? one.reason.name : 'answered',
    );
    expect(refused).toHaveLength(9);
    const REFUSAL =
      /^(?:UnrecognizedClientException|InvalidSignatureException|InvalidAccessKeyId|SignatureDoesNotMatch)$/;
    for (const name of refused) expect(name).toMatch(REFUSAL);
  }
  const e2b = {
    apiUrl: cloud().endpoints.e2b,
    sandboxUrl: cloud().endpoints.e2b,
    apiKey: 'e2b_guess',
    debug: false,
  };
  await expect(Sandbox.create(e2b)).rejects.toMatchObject({ name: 'AuthenticationError' });
});

test('a service answers below its own path only, and what is signed is the whole path', async () => {
  const { e2b, dynamodb, s3, lambda } = cloud().endpoints;
  const credentials = {
    accessKeyId: cloud().environment['AWS_ACCESS_KEY_ID'] ?? '',
    secretAccessKey: cloud().environment['AWS_SECRET_ACCESS_KEY'] ?? '',
  };
  const listTables = async (endpoint: string, as?: string): Promise<string> => {
    const client = new DynamoDBClient({ region: 'us-east-1', endpoint, credentials, maxAttempts: 1 });
    client.middlewareStack.add(
      (next) => (args) => {
        if (as !== undefined) Object.assign(args.request as object, { path: as });
        return next(args);
      },
      // After the request was signed.
      { step: 'finalizeRequest', priority: 'low' },
    );
    try {
      return String((await client.send(new ListTablesCommand({}))).TableNames?.length);
    } catch (error) {
      return error instanceof Error ? error.name : String(error);
    } finally {
      client.destroy();
    }
  };
  expect(await listTables(dynamodb)).toBe('3');
  expect(await listTables(`${dynamodb}/`)).toBe('3');
  // Signed for `/`, sent to the path.
  expect(await listTables(e2b, '/dynamodb/')).toBe('InvalidSignatureException');
  for (const other of [e2b, `${dynamodb}s`, `${e2b}//dynamodb`, s3, lambda])
    expect(await listTables(other), other).not.toBe('3');
});

test('nothing the cloud keeps can be read by another user', async () => {
  const readable: string[] = [];
  const look = async (path: string): Promise<void> => {
    const { mode } = await lstat(path);
    const directory = (mode & 0o170000) === 0o040000;
    if ((mode & 0o007) === 0 && path !== cloud().dataDir) return;
    if (!directory) readable.push(path);
    else for (const name of await readdir(path)) await look(join(path, name));
  };
  await look(cloud().dataDir);
  expect(readable).toEqual([]);
});

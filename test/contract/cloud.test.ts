import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtempDisposable, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { request as httpRequest, IncomingMessage } from 'node:http';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  DescribeTableCommand,
  DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
} from '@aws-sdk/client-dynamodb';
import { EventBridgeClient, PutEventsCommand, type PutEventsRequestEntry } from '@aws-sdk/client-eventbridge';
import { GetObjectCommand, PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { SignatureV4 } from '@smithy/signature-v4';
import { expect, test } from 'vitest';
import { createEventBus } from '../../adapters/aws/event-bus.ts';
import { type Cloud, startCloud } from '../../local/cloud.ts';
import { findRunningCloud } from '../../local/data-dir.ts';
import { planCloud } from '../../local/plan.ts';
import { Sha256 } from '../../local/sigv4.ts';
import { loadTemplate } from '../../local/template.ts';
import { startTestCloud } from '../support/cloud.ts';
import { errorOf } from '../support/error-of.ts';
import { freePortsInARow } from '../support/loopback.ts';
import { processesWith } from '../support/processes.ts';

const scratch = () => mkdtempDisposable(join(tmpdir(), 'walkback-cloud-test-'));

const variable = (cloud: Cloud, name: string): string => {
  const value = cloud.environment[name];
  if (value === undefined) throw new Error(`${name} is not in the environment`);
  return value;
};

const refusal = (promise: Promise<unknown>) =>
  promise.then(
    () => expect.unreachable('must be refused'),
    (error: unknown) => error,
  );

test('a first start that broke off is made good by the next one, and what is stored then stays', async () => {
  await using directory = await scratch();
  const plan = planCloud(await loadTemplate());
  // A directory where a file is to be written fails as a full disk does.
  const marks = plan.locks.map(({ bucket }) => join(directory.path, 's3', 'locks', `${bucket}.json`));
  expect(marks).not.toEqual([]);
  for (const mark of marks) await mkdir(mark, { recursive: true });
  await refusal(startCloud({ dataDir: directory.path }));
  for (const mark of marks) await rm(mark, { recursive: true });
  // What is in the file of a database of which only the beginning could be written.
  const file = join(directory.path, 'dynamodb', 'tables.sqlite');
  await writeFile(file, (await readFile(file)).subarray(0, 9000));
  const Item = { pk: { S: 'KEPT#1' }, sk: { S: 'META' } };
  const first = await startTestCloud({ dataDir: directory.path });
  const TableName = variable(first, 'WALKBACK_SESSIONS_TABLE');
  await new DynamoDBClient().send(new PutItemCommand({ TableName, Item }));
  await first.close();
  await using second = await startTestCloud({ dataDir: directory.path });
  expect(variable(second, 'WALKBACK_SESSIONS_TABLE')).toBe(TableName);
  const kept = await new DynamoDBClient().send(
    new GetItemCommand({ TableName, Key: Item, ConsistentRead: true }),
  );
  expect(kept.Item).toEqual(Item);
});

test('SDK clients without any settings talk to the cloud, S3 in path style', async () => {
  await using cloud = await startTestCloud();
  const Bucket = variable(cloud, 'WALKBACK_BUCKET');
  const TableName = variable(cloud, 'WALKBACK_SESSIONS_TABLE');

  const s3 = new S3Client();
  await s3.send(new PutObjectCommand({ Bucket, Key: 'bases/a b', Body: 'bundle', IfNoneMatch: '*' }));
  const object = await s3.send(new GetObjectCommand({ Bucket, Key: 'bases/a b' }));
  expect(await object.Body?.transformToString()).toBe('bundle');
  const { Table } = await new DynamoDBClient().send(new DescribeTableCommand({ TableName }));
  expect(Table?.TableName).toBe(TableName);
});

test('data, keys and names survive a restart; what was published too', async () => {
  await using directory = await scratch();
  const Item = { pk: { S: 'KEPT#1' }, sk: { S: 'META' } };
  const first = await startTestCloud({ dataDir: directory.path });
  const TableName = variable(first, 'WALKBACK_SESSIONS_TABLE');
  await new DynamoDBClient().send(new PutItemCommand({ TableName, Item }));
  const keys = ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY', 'E2B_API_KEY', 'WALKBACK_BUCKET'];
  const before = keys.map((name) => variable(first, name));
  await first.close();

  await using second = await startTestCloud({ dataDir: directory.path });
  expect(keys.map((name) => variable(second, name))).toEqual(before);
  const found = await new DynamoDBClient().send(new GetItemCommand({ TableName, Key: Item }));
  expect(found.Item).toEqual(Item);
});

test('two clouds have different keys', async () => {
  const keysOf = async () => {
    await using cloud = await startTestCloud();
    return [variable(cloud, 'AWS_SECRET_ACCESS_KEY'), variable(cloud, 'E2B_API_KEY')];
  };
  const [first, second] = [await keysOf(), await keysOf()];
  expect(new Set([...first, ...second]).size).toBe(4);
});

test('closing leaves no process, no lock and the environment as it was', async () => {
  await using directory = await scratch();
  const before = { ...process.env };
  const cloud = await startTestCloud({ dataDir: directory.path });
  await cloud.close();
  await cloud.close();
  expect({ ...process.env }).toEqual(before);
  expect(await findRunningCloud(directory.path)).toBeUndefined();
  expect(processesWith(directory.path)).toEqual([]);
});

test('others find a running cloud, and only its owner may read its files', async () => {
  await using directory = await scratch();
  await using cloud = await startTestCloud({ dataDir: directory.path });
  const running = await findRunningCloud(directory.path);
  expect(running).toMatchObject({
    pid: process.pid,
    endpoints: cloud.endpoints,
    environment: cloud.environment,
  });
  for (const file of ['cloud.json', 'credentials.json']) {
    expect((await stat(join(directory.path, file))).mode & 0o777).toBe(0o600);
  }
});

test('no endpoint answers a web page, a strange host, or who has no keys', async () => {
  await using cloud = await startTestCloud();
  const httpStatus = async (url: string, headers: Record<string, string>): Promise<number | undefined> => {
    // Not fetch: it does not let anybody choose the host.
    const request = httpRequest(url, { method: 'POST', headers });
    request.end('{}');
    const answers: unknown[] = await once(request, 'response');
    const [answer] = answers;
    if (!(answer instanceof IncomingMessage)) throw new Error('no answer');
    answer.resume();
    return answer.statusCode;
  };
  const { host } = new URL(cloud.endpoints.lambda);
  expect(Object.keys(cloud.endpoints)).toHaveLength(10);
  for (const [service, url] of Object.entries(cloud.endpoints)) {
    const keys = { 'x-api-key': variable(cloud, 'E2B_API_KEY') };
    expect(await httpStatus(url, { ...keys, host: 'rebound.example:80' }), service).toBe(403);
    expect(await httpStatus(url, { ...keys, host: '127.0.0.1.example' }), service).toBe(403);
    expect(await httpStatus(url, { ...keys, host, origin: 'https://example.com' }), service).toBe(403);
    expect(await httpStatus(url, { ...keys, host, origin: 'null' }), service).toBe(403);
    // Wherever an operation is: whoever has no keys learns nothing but that.
    for (const path of ['/', '/2015-03-31/functions/walkback-list-sessions/invocations', '/v2/sandboxes']) {
      const status = await httpStatus(`${url}${path}`, { host });
      expect(status, `${service} ${path}`).toBeGreaterThanOrEqual(400);
    }
  }
});

test('a directory with a live cloud is refused, naming process and place', async () => {
  await using directory = await scratch();
  await using cloud = await startTestCloud({ dataDir: directory.path });
  expect(await refusal(startCloud({ dataDir: directory.path }))).toMatchObject({
    name: 'ConfigurationError',
    message: expect.stringContaining(`process ${process.pid}. walkback env`),
    details: { pid: process.pid, endpoints: { s3: cloud.endpoints.s3 } },
  });
});

test('the lock of a process that is gone, or whose pid is somebody else’s now, is taken over', async () => {
  await using directory = await scratch();
  const lock = (pid: number, processStart: string) =>
    writeFile(
      join(directory.path, 'cloud.json'),
      JSON.stringify({ pid, processStart, startedAt: new Date(0).toISOString(), version: '1.2.3' }),
    );
  const child = spawn('true');
  await once(child, 'exit');
  await lock(child.pid ?? 0, '1');
  await (await startCloud({ dataDir: directory.path })).close();
  await lock(process.ppid, 'another start');
  await (await startCloud({ dataDir: directory.path })).close();
});

test('a damaged lock is nobody’s, and a data directory that cannot be one is named', async () => {
  await using directory = await scratch();
  await writeFile(join(directory.path, 'cloud.json'), '{"pid":');
  expect(await findRunningCloud(directory.path)).toBeUndefined();
  await (await startCloud({ dataDir: directory.path })).close();
  const file = join(directory.path, 'credentials.json');
  expect(await refusal(startCloud({ dataDir: file }))).toMatchObject(errorOf('ConfigurationError', file));
});

test('of two starting at once in one directory, one wins and the other is told', async () => {
  await using directory = await scratch();
  const results = await Promise.allSettled([1, 2, 3].map(() => startCloud({ dataDir: directory.path })));
  const started = results.filter((result) => result.status === 'fulfilled');
  expect(started).toHaveLength(1);
  await Promise.all(started.map((result) => result.value.close()));
});

test('with a port, the services for programs take it, and the pages the ones after it; a taken one is named and nothing is left', async () => {
  await using directory = await scratch();
  const first = await freePortsInARow(3);
  const taken = first + 2;
  const blocker = createServer().listen(taken, '127.0.0.1');
  await once(blocker, 'listening');
  expect(await refusal(startCloud({ dataDir: directory.path, port: first }))).toMatchObject(
    errorOf('ConfigurationError', `port ${taken} `),
  );
  blocker.close();
  await once(blocker, 'close');
  expect(processesWith(directory.path)).toEqual([]);

  await using cloud = await startCloud({ dataDir: directory.path, port: first });
  const { identity, api, ...programs } = cloud.endpoints;
  const portOf = (url: string): number => Number(new URL(url).port);
  expect(Object.values(programs).map(portOf)).toEqual(Object.keys(programs).map(() => first));
  expect([identity, api].map(portOf)).toEqual([first + 1, first + 2]);
});

test('a damaged credentials file is an error that names it', async () => {
  await using directory = await scratch();
  await writeFile(join(directory.path, 'credentials.json'), '{"accessKeyId":');
  expect(await refusal(startCloud({ dataDir: directory.path }))).toMatchObject(
    errorOf('ConfigurationError', 'credentials.json'),
  );
});

test('a second cloud in the same process is refused, because functions share an environment', async () => {
  await using first = await startTestCloud();
  await using directory = await scratch();
  expect(await refusal(startCloud({ dataDir: directory.path }))).toMatchObject({
    name: 'ConfigurationError',
  });
  expect(process.env['AWS_ENDPOINT_URL_S3']).toBe(first.endpoints.s3);
});

test('events are kept in order and shown; one that could not arrive deployed is refused', async () => {
  await using directory = await scratch();
  await using cloud = await startTestCloud({ dataDir: directory.path });
  const EventBusName = variable(cloud, 'WALKBACK_EVENT_BUS');
  const events = new EventBridgeClient();
  const entry = (DetailType: string, Detail = '{"sessionId":"s1"}', bus = EventBusName) => ({
    Source: 'walkback',
    DetailType,
    Detail,
    EventBusName: bus,
  });
  const answer = await events.send(
    new PutEventsCommand({
      Entries: [
        entry('checkpoint.created'),
        entry('bad', 'no json'),
        entry('lost', '{}', 'nobody'),
        entry('last'),
      ],
    }),
  );
  expect(answer.FailedEntryCount).toBe(2);
  expect(answer.Entries?.map((one) => one.ErrorCode)).toEqual([
    undefined,
    'MalformedDetail',
    'ResourceNotFoundException',
    undefined,
  ]);
  expect(cloud.events().map((event) => event.type)).toEqual(['checkpoint.created', 'last']);

  const KIB = 1024;
  const send = (...Entries: PutEventsRequestEntry[]) => events.send(new PutEventsCommand({ Entries }));
  // The names count, and a time for 14 bytes.
  const sized = (bytes: number) => ({
    ...entry('large', JSON.stringify({ x: 'x'.repeat(bytes - 'walkback'.length - 'large'.length - 22) })),
    Time: new Date(),
  });
  expect((await send(sized(256 * KIB))).FailedEntryCount).toBe(0);
  const refused = { name: 'ValidationException' };
  await expect(send(sized(256 * KIB + 1))).rejects.toMatchObject(refused);
  await expect(send(sized(128 * KIB), sized(128 * KIB), entry('last'))).rejects.toMatchObject(refused);
  await expect(send(...Array.from({ length: 11 }, () => entry('last')))).rejects.toMatchObject(refused);
  const noTime = { ...entry('never'), Time: new Date(Number.NaN) };
  await expect(send(noTime)).rejects.toMatchObject({ name: 'SerializationException' });
  const heavy = (id: string) => ({
    id,
    name: 'checkpoint.created' as const,
    at: new Date().toISOString(),
    detail: { x: 'x'.repeat(100 * KIB) },
  });
  await createEventBus({ busName: EventBusName }).publish(['1', '2', '3'].map(heavy));
  const arrived = cloud.events().slice(-3);
  expect(arrived.map(({ body }) => (body as { eventId: string }).eventId)).toEqual(['1', '2', '3']);
  await send(entry('last'));

  const shown = (await (await fetch(`${cloud.endpoints.events}/local/events?limit=1`)).json()) as {
    events: unknown[];
  };
  expect(shown.events).toMatchObject([{ kind: 'event', type: 'last', body: { sessionId: 's1' } }]);
  expect(await readFile(join(directory.path, 'events.jsonl'), 'utf8')).toContain('checkpoint.created');
});

test('events are shown to people on this machine, not to web pages', async () => {
  await using cloud = await startTestCloud();
  const answer = await fetch(`${cloud.endpoints.events}/local/events`, {
    headers: { origin: 'https://example.com' },
  });
  expect(answer.status).toBe(403);
});

test('a notification to a topic is kept too; SNS refuses what is too large, and topics that are not there', async () => {
  await using cloud = await startTestCloud();
  const { host, hostname, pathname: path } = new URL(cloud.endpoints.events);
  const signer = new SignatureV4({
    service: 'sns',
    region: variable(cloud, 'AWS_REGION'),
    credentials: {
      accessKeyId: variable(cloud, 'AWS_ACCESS_KEY_ID'),
      secretAccessKey: variable(cloud, 'AWS_SECRET_ACCESS_KEY'),
    },
    sha256: Sha256,
  });
  const [TopicArn = ''] = planCloud(await loadTemplate()).topics;
  const publish = async (more: Record<string, string> = {}): Promise<string> => {
    const fields = { Action: 'Publish', TopicArn, Message: 'help', Subject: 'saga', ...more };
    const body = new URLSearchParams(fields).toString();
    const { headers } = await signer.sign({
      method: 'POST',
      protocol: 'http:',
      hostname,
      path,
      query: {},
      headers: { host, 'content-type': 'application/x-www-form-urlencoded' },
      body,
    });
    return (await fetch(cloud.endpoints.events, { method: 'POST', headers, body })).text();
  };
  expect(await publish()).toMatch(/<MessageId>[0-9a-f-]{36}<\/MessageId>/);
  expect(cloud.events()).toMatchObject([
    { kind: 'notification', target: TopicArn, type: 'saga', body: 'help' },
  ]);
  const full = 256 * 1024;
  expect(await publish({ Message: 'x'.repeat(full), Subject: 's'.repeat(100) })).toContain('<MessageId>');
  expect(await publish({ Message: 'x'.repeat(full + 1) })).toContain('Message too long');
  for (const Subject of ['s'.repeat(101), 'zoë', 'two\nlines', '']) {
    expect(await publish({ Subject }), Subject).toContain('Invalid parameter: Subject');
  }
  expect(await publish({ TopicArn: `${TopicArn}-gone` })).toContain('<Code>NotFound</Code>');
  expect(cloud.events()).toHaveLength(2);

  const set = async (body: object, headers: Record<string, string> = {}) =>
    (
      await fetch(`${cloud.endpoints.events}/local/topics`, {
        method: 'PUT',
        headers,
        body: JSON.stringify(body),
      })
    ).status;
  expect(await set({ state: 'deleted' }, { origin: 'https://example.com' })).toBe(403);
  expect(await set({ state: 'away' })).toBe(400);
  expect(await set({ state: 'denied', topicArn: `${TopicArn}-gone` })).toBe(404);
  expect(await publish()).toContain('<MessageId>');
  expect(await set({ state: 'denied', topicArn: TopicArn })).toBe(200);
  expect(await publish()).toContain('<Code>AuthorizationError</Code>');
  expect(await set({ state: 'deleted' })).toBe(200);
  expect(await publish()).toContain('<Code>NotFound</Code>');
  expect(await set({ state: 'there' })).toBe(200);
  expect(await publish()).toContain('<MessageId>');
  expect(cloud.events()).toHaveLength(4);
});

test('the E2B key is a secret that functions fetch by its reference', async () => {
  await using cloud = await startTestCloud();
  const SecretId = variable(cloud, 'E2B_API_KEY_SECRET_ARN');
  const secrets = new SecretsManagerClient();
  const found = await secrets.send(new GetSecretValueCommand({ SecretId }));
  expect(found.SecretString).toBe(variable(cloud, 'E2B_API_KEY'));
  await expect(secrets.send(new GetSecretValueCommand({ SecretId: 'other' }))).rejects.toMatchObject({
    name: 'ResourceNotFoundException',
  });
});

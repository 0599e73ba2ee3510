import { ListObjectsV2Command, S3Client } from '@aws-sdk/client-s3';
import { Sandbox } from 'e2b';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { FunctionFailure, startTestCloud, type TestCloud } from '../support/cloud.ts';

let cloud: TestCloud;
beforeAll(async () => {
  cloud = await startTestCloud();
});
afterAll(() => cloud.close());

const createSandbox = async (): Promise<Sandbox> => {
  const sandbox = await Sandbox.create({
    apiKey: cloud.environment['E2B_API_KEY'],
    apiUrl: cloud.endpoints.e2b,
    sandboxUrl: cloud.endpoints.e2b,
  });
  await sandbox.commands.run(
    'mkdir -p ~/work/app && cd ~/work/app && git init -q -b main && echo one > a.txt && git add a.txt && ' +
      'git -c user.name=t -c user.email=t@example.com commit -q -m first',
  );
  return sandbox;
};

const startSession = (sandbox: Sandbox, sessionId: string) =>
  cloud.invoke('start-session', {
    sessionId,
    sandboxId: sandbox.sandboxId,
    projectsRoot: '/home/user/work',
  });

test('a function is invoked over the wire, works on a real sandbox, and its event arrives on the bus', async () => {
  const sandbox = await createSandbox();
  const session = await startSession(sandbox, 's1');
  expect(session).toMatchObject({ sessionId: 's1', repositories: [{ path: 'app', branch: 'main' }] });

  await sandbox.commands.run('echo two > ~/work/app/a.txt');
  const checkpoint = await cloud.invoke('checkpoint', {
    sessionId: 's1',
    messageId: 'm1',
    toolExecutionId: 't1',
    reason: 'before-tool',
  });
  expect(checkpoint).toMatchObject({ complete: true, repositories: [{ path: 'app', changed: true }] });
  await cloud.settled();
  expect(cloud.events().map((event) => event.type)).toContain('checkpoint.created');
});

test('errors come with their literal names', async () => {
  const failure = cloud.invoke('timeline', { sessionId: 'nobody' });
  await expect(failure).rejects.toBeInstanceOf(FunctionFailure);
  await expect(failure).rejects.toMatchObject({ errorType: 'SessionNotFound' });
  await expect(cloud.invoke('checkpoint', { sessionId: '../x' })).rejects.toMatchObject({
    errorType: 'InvalidInput',
  });
});

test('the sandbox is given no AWS credentials and no key', async () => {
  const sandbox = await createSandbox();
  const { stdout } = await sandbox.commands.run('env');
  expect(stdout).not.toMatch(/AWS_|E2B_API_KEY|WALKBACK_/);
});

test('a fault between the functions and S3 is seen by the function, and healing ends it', async () => {
  const sandbox = await createSandbox();
  const proxy = await cloud.interpose('s3', [{ action: { kind: 'status', status: 403 } }]);
  await expect(startSession(sandbox, 'healed')).rejects.toBeInstanceOf(FunctionFailure);
  expect(proxy.count()).toBeGreaterThan(0);
  cloud.heal();
  await expect(startSession(sandbox, 'healed')).resolves.toMatchObject({ sessionId: 'healed' });
});

test('through a proxy without faults everything works, streams of the sandbox included', async () => {
  const proxies = await Promise.all([
    cloud.interpose('e2b'),
    cloud.interpose('s3'),
    cloud.interpose('dynamodb'),
  ]);
  await expect(startSession(await createSandbox(), 'through')).resolves.toMatchObject({
    sessionId: 'through',
  });
  for (const proxy of proxies) expect(proxy.count()).toBeGreaterThan(0);
  cloud.heal();
});

test('when everything has expired, the bundles are gone too', async () => {
  await startSession(await createSandbox(), 'expires');
  const list = () =>
    new S3Client().send(new ListObjectsV2Command({ Bucket: cloud.environment['WALKBACK_BUCKET'] }));
  expect((await list()).KeyCount).toBeGreaterThan(0);
  const later = new Date(Date.now() + 4 * 365 * 24 * 3_600_000);
  expect(await cloud.expireItems(later)).toBeGreaterThan(0);
  await cloud.settled();
  expect((await list()).KeyCount ?? 0).toBe(0);
  await expect(cloud.invoke('timeline', { sessionId: 'expires' })).rejects.toMatchObject({
    errorType: 'SessionNotFound',
  });
});

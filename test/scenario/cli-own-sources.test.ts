/** Which functions of one's own are served is never changed silently: not by a refused `up`, and not by the next start. */
import { mkdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { EventBridgeClient, PutEventsCommand } from '@aws-sdk/client-eventbridge';
import { InvokeCommand, LambdaClient } from '@aws-sdk/client-lambda';
import { expect, onTestFinished } from 'vitest';
import { Walkback } from '../../client/index.ts';
import { findRunningCloud } from '../../local/data-dir.ts';
import { type CliScene, openCliScene } from '../support/cli.ts';
import { startReceiver } from '../support/notice-receiver.ts';
import { inTurn } from '../support/sampled-test.ts';

const test = inTurn('cli-own-sources');

const open = async (more: Record<string, string> = { WALKBACK_DAEMON: 'on', WALKBACK_IDLE_MINUTES: '0' }) => {
  const scene = await openCliScene(more);
  const file = (name: string): string => join(scene.work, name);
  for (const directory of ['one', 'dir']) {
    await mkdir(file(directory));
    await writeFile(file(`${directory}/ed.mjs`), `export const handler = () => '${directory}';`);
  }
  return {
    ...scene,
    file,
    [Symbol.asyncDispose]: async () => {
      await scene.run(['down']);
      await scene[Symbol.asyncDispose]();
    },
  };
};

const kill = async (scene: CliScene): Promise<void> => {
  const running = await findRunningCloud(scene.dataDir);
  if (running === undefined) throw new Error('no cloud runs');
  process.kill(running.pid, 'SIGKILL');
  await expect.poll(() => findRunningCloud(scene.dataDir), { timeout: 60_000 }).toBeUndefined();
};

/** What the function `ed` of the running cloud answers. */
const ask = async (scene: CliScene): Promise<unknown> => {
  const { environment = {} } = (await findRunningCloud(scene.dataDir)) ?? {};
  const client = new LambdaClient({
    region: 'us-east-1',
    endpoint: environment['AWS_ENDPOINT_URL_LAMBDA'] ?? '',
    credentials: {
      accessKeyId: environment['AWS_ACCESS_KEY_ID'] ?? '',
      secretAccessKey: environment['AWS_SECRET_ACCESS_KEY'] ?? '',
    },
  });
  try {
    const { Payload } = await client.send(new InvokeCommand({ FunctionName: 'ed' }));
    return JSON.parse(Payload?.transformToString() ?? '');
  } catch (error) {
    return error instanceof Error ? error.name : error;
  } finally {
    client.destroy();
  }
};

test('two files of one name are refused with both, and the next command says that it serves neither', async () => {
  await using scene = await open();
  const twins = ['--functions', 'one/ed.mjs', '--functions', 'dir'];
  for (const more of [[], ['--detach']]) {
    const { code, stderr } = await scene.run(['up', '--json', ...more, ...twins]);
    expect(code).toBe(7);
    const { error } = JSON.parse(stderr.trim().split('\n').at(-1) ?? '') as { error: Record<string, string> };
    expect(error['name']).toBe('ConfigurationError');
    expect(error['message']).toContain(
      `${scene.file('one/ed.mjs')} and ${scene.file('dir/ed.mjs')} are both a function "ed"`,
    );
    expect(await findRunningCloud(scene.dataDir)).toBeUndefined();
  }
  const { code, stderr } = await scene.run(['session', 'list']);
  expect(code).toBe(0);
  expect(stderr).toContain(`It does not serve ${scene.file('one/ed.mjs')}, ${scene.file('dir')}`);
  expect(stderr).toContain('walkback up --detach --functions');
  expect(await ask(scene)).toBe('ResourceNotFoundException');
  // Said once, by the command that started it.
  expect((await scene.run(['session', 'list'])).stderr).not.toContain('It does not serve');
});

test('one file that is named twice is one function', async () => {
  await using scene = await open();
  const up = ['up', '--detach', '--functions', 'dir', '--functions', 'dir/ed.mjs'];
  expect(await scene.json(up)).toMatchObject({ isNew: true, functions: ['ed'] });
  expect(await ask(scene)).toBe('dir');
  expect(await scene.json(['up', '--detach'])).toMatchObject({ isNew: false, functions: ['ed'] });
});

test('whoever starts it again serves what was served before, until an up says otherwise', async () => {
  await using scene = await open();
  await scene.json(['up', '--detach', '--functions', 'dir']);
  expect(await ask(scene)).toBe('dir');
  await kill(scene);
  const { stderr } = await scene.run(['session', 'list']);
  expect(stderr).toContain(`It serves your functions again: ${scene.file('dir')}.`);
  expect(await ask(scene)).toBe('dir');

  await kill(scene);
  const walkback = new Walkback({ dataDir: scene.dataDir, start: true });
  await walkback.sessions.list();
  await walkback.close();
  expect(await ask(scene)).toBe('dir');

  // A refused one changes nothing.
  await scene.json(['down']);
  expect((await scene.run(['up', '--detach', '--functions', 'none'])).code).toBe(7);
  const after = await scene.run(['session', 'list']);
  expect(after.stderr).toContain(`It serves your functions again: ${scene.file('dir')}.`);
  expect(after.stderr).toContain(`It does not serve ${scene.file('none')}`);
  expect(await ask(scene)).toBe('dir');

  await scene.json(['down']);
  await scene.json(['up', '--detach']);
  expect(await ask(scene)).toBe('ResourceNotFoundException');
  await kill(scene);
  expect((await scene.run(['session', 'list'])).stderr).not.toContain('serve');
  expect(await ask(scene)).toBe('ResourceNotFoundException');
});

/** An event of a saga that nobody sees but the receiver of notices. */
const announce = async (scene: CliScene, eventId: string): Promise<void> => {
  const { environment = {} } = (await findRunningCloud(scene.dataDir)) ?? {};
  const client = new EventBridgeClient({
    region: 'us-east-1',
    endpoint: environment['AWS_ENDPOINT_URL_EVENTBRIDGE'] ?? '',
    credentials: {
      accessKeyId: environment['AWS_ACCESS_KEY_ID'] ?? '',
      secretAccessKey: environment['AWS_SECRET_ACCESS_KEY'] ?? '',
    },
  });
  const detail = JSON.stringify({ eventId, notice: { text: eventId } });
  await client.send(
    new PutEventsCommand({
      Entries: [
        {
          Source: 'walkback',
          DetailType: 'saga.awaiting',
          Detail: detail,
          EventBusName: environment['WALKBACK_EVENT_BUS'],
        },
      ],
    }),
  );
  client.destroy();
};

test('whoever starts it again tells who was told before, until an up says otherwise', async () => {
  const receiver = await startReceiver();
  onTestFinished(receiver.close);
  await using scene = await open();
  await scene.json(['up', '--detach', '--notify', receiver.url]);
  await announce(scene, 'one');
  await expect.poll(() => receiver.received.length, { timeout: 60_000 }).toBe(1);
  await kill(scene);
  const { stderr } = await scene.run(['session', 'list']);
  expect(stderr).toContain(`It sends notices to ${new URL(receiver.url).origin} again.`);
  expect(stderr).not.toContain(receiver.url);
  await announce(scene, 'two');
  await expect
    .poll(() => receiver.received.some(({ eventId }) => eventId === 'two'), { timeout: 60_000 })
    .toBe(true);

  await scene.json(['down']);
  await scene.json(['up', '--detach']);
  await kill(scene);
  expect((await scene.run(['session', 'list'])).stderr).not.toContain('notices');
});

test('what cannot be served again stops the start, and says how to go on', async () => {
  await using scene = await open();
  await scene.json(['up', '--detach', '--functions', 'dir']);
  await scene.json(['down']);
  await rename(scene.file('dir'), scene.file('moved'));
  const { code, stderr } = await scene.run(['session', 'list']);
  expect(code).toBe(7);
  expect(stderr).toContain(`ConfigurationError: The embedded cloud does not start without its functions`);
  expect(stderr).toContain(`${scene.file('dir')}: there is no such directory or module`);
  expect(await findRunningCloud(scene.dataDir)).toBeUndefined();
  await scene.json(['up', '--detach', '--functions', 'moved']);
  expect(await ask(scene)).toBe('dir');
});

test('a command with a cloud of its own serves them too', async () => {
  await using scene = await open({});
  const { child, ended } = await scene.start(['up', '--json', '--functions', 'dir']);
  child.kill('SIGTERM');
  expect(await ended).toBe(0);
  const { stderr } = await scene.run(['session', 'list']);
  expect(stderr).toContain(`It serves your functions again: ${scene.file('dir')}.`);
});

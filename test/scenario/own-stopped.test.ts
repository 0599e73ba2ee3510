/** The end of a cloud while functions of one's own are at work: those that block are ended at once, and no saga loses anything. */

import { InvokeCommand, LambdaClient } from '@aws-sdk/client-lambda';
import { expect } from 'vitest';
import { openCliScene } from '../support/cli.ts';
import { startTestCloud } from '../support/cloud.ts';
import { obedient, ownDirectory } from '../support/own-functions.ts';
import { inTurn } from '../support/sampled-test.ts';
import { scriptedTool } from '../support/scripted-saga.ts';

const test = inTurn('own-stopped');

test('what blocks has ended before those beside it have had their time', async () => {
  await using directory = await ownDirectory({ 'blocks.mjs': obedient(), 'waits.mjs': obedient() });
  await using cloud = await startTestCloud({ functions: [directory.path] });
  const client = new LambdaClient({
    region: 'us-east-1',
    endpoint: cloud.endpoints.lambda,
    credentials: {
      accessKeyId: cloud.environment['AWS_ACCESS_KEY_ID'] ?? '',
      secretAccessKey: cloud.environment['AWS_SECRET_ACCESS_KEY'] ?? '',
    },
    maxAttempts: 1,
  });
  const invoke = async (FunctionName: string, event: object): Promise<unknown> => {
    const { Payload } = await client.send(
      new InvokeCommand({ FunctionName, Payload: JSON.stringify(event) }),
    );
    return JSON.parse(Payload?.transformToString() ?? '');
  };
  const blocked = invoke('blocks', { does: 'blocks', began: 'one', gate: 'never' });
  const waits = invoke('waits', { does: 'waits', began: 'two' });
  await Promise.all([directory.made('one'), directory.made('two')]);
  const closed = cloud.close();
  expect(await blocked).toMatchObject({
    errorType: 'Runtime.ExitError',
    errorMessage: expect.stringContaining('the embedded cloud was stopped'),
  });
  await directory.write('gate');
  expect(await waits).toEqual({ calls: 1 });
  await closed;
  expect(cloud.isStuck()).toBe(false);
  client.destroy();
});

test('a step that is decided while the cloud ends does not begin, and is known not to have', async () => {
  await using directory = await ownDirectory({
    'waits.mjs': `import { existsSync, writeFileSync } from 'node:fs';
      const at = (name) => import.meta.dirname + '/' + name;
      export const handler = async () => {
        writeFileSync(at('began'), '');
        while (!existsSync(at('gate'))) await new Promise((resolve) => setTimeout(resolve, 5));
        return { outcome: 'committed', result: {} };
      };`,
    'pays.mjs': `import { appendFileSync } from 'node:fs';
      export const handler = () => {
        appendFileSync(import.meta.dirname + '/paid', '.');
        return { outcome: 'committed', result: {} };
      };`,
  });
  const options = { dataDir: directory.file('data'), functions: [directory.path] };
  const sagaId = 'one';
  {
    await using cloud = await startTestCloud(options);
    const ONCE = { maxAttempts: 1, backoffSeconds: 1, backoffRate: 1, maxBackoffSeconds: 1 };
    const tools = ['waits', 'pays'].map((name) =>
      scriptedTool(name, 'irreversible', { functionName: name, timeoutSeconds: 26, retry: ONCE }),
    );
    await cloud.invoke('put-catalog', { tools, definitions: [] });
    const steps = tools.map(({ name }) => ({ id: name, tool: name, arguments: {} }));
    await cloud.invoke('start-saga', { sagaId, plan: { steps }, input: {}, requestedBy: 'me' });
    await directory.made('began');
    const closed = cloud.close();
    await directory.write('gate');
    await closed;
  }
  await using cloud = await startTestCloud(options);
  expect(await cloud.invoke('describe-saga', { sagaId, waitSeconds: 200 })).toMatchObject({
    status: 'COMPLETED',
  });
  expect(await directory.read('paid')).toBe('.');
});

/** Takes a book once for each key, and says so in a file; its first call of all blocks. */
const library = (how: string) => `
import { execSync } from 'node:child_process';
import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
const at = (name) => join(import.meta.dirname, name);
export const timeoutSeconds = 9;
export const handler = ({ operation, idempotencyKey, step }) => {
  if (step === 'second' && !existsSync(at('began'))) {
    writeFileSync(at('began'), '');
    ${how}
  }
  const shelf = existsSync(at('shelf')) ? readFileSync(at('shelf'), 'utf8') : '';
  const line = operation + ' ' + step + ' ' + idempotencyKey + '\\n';
  if (!shelf.includes(line)) appendFileSync(at('shelf'), line);
  return { outcome: 'committed', result: {} };
};`;

test.each([
  ['computes', 'for (;;);'],
  ['waits for another process', `execSync('while [ -e "' + at('began') + '" ]; do sleep 0.1; done');`],
])('down ends one that %s, and its saga goes on with the next start', async (_, how) => {
  await using scene = await openCliScene({ WALKBACK_DAEMON: 'on', WALKBACK_IDLE_MINUTES: '0' });
  await using directory = await ownDirectory({ 'library.mjs': library(how) });
  await scene.json(['up', '--detach', '--functions', directory.path]);
  try {
    const tool = scriptedTool('take', 'compensatable', { functionName: 'library', timeoutSeconds: 5 });
    await directory.write('catalog.json', JSON.stringify({ tools: [tool] }));
    await scene.json(['catalog', 'put', directory.file('catalog.json')]);
    const steps = ['first', 'second', 'third'].map((id) => ({ id, tool: 'take', arguments: {} }));
    await scene.json(['saga', 'start', '--plan', JSON.stringify({ steps }), '--id', 'one', '--by', 'me']);
    await directory.made('began');

    expect(await scene.json(['down'])).toMatchObject({ pid: expect.any(Number) });
    expect(await scene.json(['down'])).toMatchObject({ pid: null });
    // Starts the cloud again, with the functions that it served.
    expect(await scene.json(['saga', 'watch', 'one', '--timeout', '240'])).toMatchObject({
      status: 'COMPLETED',
    });
    const shelf = (await directory.read('shelf')).trim().split('\n');
    expect(shelf.map((line) => line.split(' ')[1])).toEqual(['first', 'second', 'third']);
    await scene.json(['ledger', 'verify', 'one']);
  } finally {
    await scene.run(['down']);
  }
});

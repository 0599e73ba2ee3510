/** A tool of one's own that fails outside of its call: its saga says why, and the log says where and when. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openCliScene } from '../support/cli.ts';
import { ownDirectory } from '../support/own-functions.ts';
import { scriptedTool } from '../support/scripted-saga.ts';

const SEAT = `
export const handler = () => new Promise(() => setImmediate(() => {
  throw new RangeError('the pool of seats is gone');
}));`;

test('the reason is in the ledger and in daemon.log, with time, function, file and place', async () => {
  await using scene = await openCliScene({ WALKBACK_DAEMON: 'on' });
  await using directory = await ownDirectory({ 'seat.mjs': SEAT });
  await scene.json(['up', '--detach', '--functions', directory.path]);
  try {
    const ONCE = { maxAttempts: 1, backoffSeconds: 1, backoffRate: 1, maxBackoffSeconds: 1 };
    const more = { functionName: 'seat', timeoutSeconds: 26, retry: ONCE };
    const catalog = { tools: [scriptedTool('seat', 'irreversible', more)] };
    await directory.write('catalog.json', JSON.stringify(catalog));
    await scene.json(['catalog', 'put', directory.file('catalog.json')]);
    const plan = JSON.stringify({ steps: [{ id: 's', tool: 'seat', arguments: {} }] });
    await scene.json(['saga', 'start', '--plan', plan, '--id', 'one', '--by', 'me']);
    const file = directory.file('seat.mjs');
    const reason = `function seat (${file}): RangeError: the pool of seats is gone (outside of a call)`;
    const ledger = () => scene.text(['ledger', 'query', '--saga', 'one', '--json']);
    await expect.poll(ledger, { timeout: 120_000, interval: 500 }).toContain(reason);
    expect(await ledger()).toMatch(/Runtime\.ExitError[\s\S]*seat\.mjs:3:9/);
    const log = await readFile(join(scene.dataDir, 'daemon.log'), 'utf8');
    const line = log.split('\n').find((one) => one.includes(reason));
    expect(line).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z function seat /);
    expect(log).toMatch(/at .*seat\.mjs:3:9/);
  } finally {
    await scene.json(['down']);
  }
});

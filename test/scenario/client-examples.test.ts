/** The samples of the README and of docs/api.md, and the turns of examples/client, on the embedded cloud; the model is a script. */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, vi } from 'vitest';
import type { Model } from '../../examples/client/loop.ts';
import { hotel, seats } from '../../examples/client/own-tools.ts';
import { turn as turnWithCheckpoints } from '../../examples/client/with-checkpoints.ts';
import { turn as turnWithSaga } from '../../examples/client/with-saga.ts';
import { PROJECT } from '../../local/template.ts';
import { type ClientWorld, openClientWorld } from '../support/client-world.ts';
import { inTurn } from '../support/sampled-test.ts';

const test = inTurn('client-examples');

let world: ClientWorld;
beforeAll(async () => {
  world = await openClientWorld();
  for (const [name, value] of Object.entries(world.cloud.environment)) vi.stubEnv(name, value);
  vi.stubEnv('WALKBACK_DATA', world.cloud.dataDir);
});
afterAll(async () => {
  vi.unstubAllEnvs();
  await world[Symbol.asyncDispose]();
});

const call = (id: string, name: string, input: unknown) => ({ id, name, input });

/** Calls these tools side by side, then says this. */
const script =
  (calls: ReturnType<typeof call>[], text: string): Model =>
  async (messages) =>
    messages.length === 1 ? { text: '', calls } : { text, calls: [] };

test('the first undo of the README: the file is as the first message left it', async () => {
  const sample = join(PROJECT, 'examples/client/first-undo.ts');
  const { PATH = '', HOME = '' } = process.env;
  const env = { PATH, HOME, WALKBACK_DATA: world.cloud.dataDir };
  const { stdout } = await promisify(execFile)(process.execPath, [sample], {
    cwd: join(world.root, 'api'),
    env,
  });
  expect(stdout).toContain('APPLIED written by msg-1\n');
  expect(world.read('api/notes.txt')).toBe('written by msg-1\n');
});

test('an agent is rolled back and refunded, as docs/api.md has it', async () => {
  const sample = join(PROJECT, 'examples/client/rolled-back.ts');
  const { PATH = '', HOME = '' } = process.env;
  const env = { PATH, HOME, WALKBACK_DATA: world.cloud.dataDir };
  const { stdout } = await promisify(execFile)(process.execPath, [sample], {
    cwd: join(world.root, 'web'),
    env,
  });
  expect(stdout).toBe('refunded, and order.txt is gone\n');
  expect(existsSync(join(world.root, 'web/order.txt'))).toBe(false);
});

test('a turn with checkpoints goes back to how it began', async () => {
  const write = (text: string) => call(`write-${text}`, 'write_file', { path: 'web/file.txt', text });
  expect(await turnWithCheckpoints(script([write('one'), write('two')], 'done'), world.root, 'write')).toBe(
    'done',
  );
  const session = await world.walkback.sessions.get('chat');
  const { checkpoints } = await session.timeline();
  expect(checkpoints.map(({ reason }) => reason)).toEqual([
    'after-turn',
    'before-tool: write_file',
    expect.any(String),
  ]);
  await session.rollback({ to: checkpoints.at(1)?.checkpointId ?? '' });
  expect(world.read('web/file.txt')).toBe('as it was\n');
});

test('a turn that cannot be done is taken back in other systems; one that can, stands', async () => {
  const calls = (of: string) => [
    call(`${of}-1`, 'book_room', { nights: 2 }),
    call(`${of}-2`, 'hold_seat', { seat: '12a' }),
    call(`${of}-3`, 'write_file', { path: 'api/trip.txt', text: 'booked\n' }),
  ];
  expect(await turnWithSaga(script(calls('good'), 'booked'), world.root, 'book')).toBe('booked');
  expect([(await hotel.bookings()).length, seats.size]).toEqual([1, 1]);
  await turnWithSaga(script(calls('bad'), 'cannot be done'), world.root, 'book');
  expect([(await hotel.bookings()).length, seats.size]).toEqual([1, 1]);
});

import { EventEmitter } from 'node:events';
import { expect, test } from 'vitest';
import { untilIdle } from '../../cli/target/idle.ts';
import { createActivity } from '../../local/activity.ts';
import type { Cloud } from '../../local/cloud.ts';

test('time counts from the end of the last of what was under way', () => {
  let now = 1_000;
  const activity = createActivity(() => now);
  const server = new EventEmitter();
  activity.watch(server);
  now += 50;
  expect(activity.idleForMs()).toBe(50);
  const response = new EventEmitter();
  server.emit('request', {}, response);
  const over = activity.begin();
  now += 1_000;
  expect(activity.idleForMs()).toBe(0);
  response.emit('close');
  expect(activity.idleForMs()).toBe(0);
  over();
  now += 7;
  expect(activity.idleForMs()).toBe(7);
});

test('a cloud that somebody asked at the last moment stays, and can be found again', async () => {
  const told: string[] = [];
  // Idle, then asked while it was concealed, then idle for good.
  const idle = [10, 0, 10, 10];
  const cloud: Pick<Cloud, 'ownsDataDir' | 'idleForMs' | 'conceal' | 'announce'> = {
    ownsDataDir: async () => true,
    idleForMs: () => idle.shift() ?? 10,
    conceal: async () => void told.push('conceal'),
    announce: async () => void told.push('announce'),
  };
  await untilIdle(cloud, 1, new AbortController().signal);
  expect(told).toEqual(['conceal', 'announce', 'conceal']);
});

test('a cloud whose directory is not its own any more ends, and hides nothing of the next one', async () => {
  const told: string[] = [];
  await untilIdle(
    {
      ownsDataDir: async () => false,
      idleForMs: () => 0,
      conceal: async () => void told.push('conceal'),
      announce: async () => void told.push('announce'),
    },
    1,
    new AbortController().signal,
  );
  expect(told).toEqual([]);
});

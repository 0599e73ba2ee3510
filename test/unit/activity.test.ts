import { expect, test, vi } from 'vitest';
import { untilIdle } from '../../cli/target/idle.ts';
import { spareMemory } from '../../cli/target/spare-memory.ts';
import { createActivity } from '../../local/activity.ts';
import type { Cloud } from '../../local/cloud.ts';

test('time counts from the end of the last of what was under way', () => {
  let now = 1_000;
  const activity = createActivity(() => now);
  now += 50;
  expect(activity.idleForMs()).toBe(50);
  const first = activity.begin();
  const over = activity.begin();
  now += 1_000;
  expect(activity.idleForMs()).toBe(0);
  first();
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

test('memory is collected once for each time that a cloud is left alone', async () => {
  vi.useFakeTimers();
  try {
    let idleMs = 0;
    let collected = 0;
    const collect = async () => void (collected += 1);
    const end = spareMemory({ idleForMs: () => idleMs }, { quietMs: 1_000, collect });
    vi.advanceTimersByTime(5_000);
    expect(collected).toBe(0);
    idleMs = 1_000;
    vi.advanceTimersByTime(5_000);
    expect(collected).toBe(1);
    idleMs = 0;
    vi.advanceTimersByTime(250);
    idleMs = 1_000;
    vi.advanceTimersByTime(250);
    expect(collected).toBe(2);
    end();
    idleMs = 0;
    vi.advanceTimersByTime(5_000);
    idleMs = 1_000;
    vi.advanceTimersByTime(5_000);
    expect(collected).toBe(2);
  } finally {
    vi.useRealTimers();
  }
});

/** In a function of its own, whose frame holds the array no longer than the call takes. */
const unheld = (): WeakRef<Uint8Array> => new WeakRef(new Uint8Array(1_000));

test('what nobody holds is gone from the memory of a cloud that is left alone', async () => {
  const left = unheld();
  const end = spareMemory({ idleForMs: () => 1 }, { quietMs: 1 });
  try {
    await expect.poll(() => left.deref() === undefined).toBe(true);
  } finally {
    end();
  }
});

/** The function of the merge queue's tools dies before or after requests that it makes. Each entry ends by itself, whole or not at all. */
import { expect, test } from 'vitest';
import { dieInQueue } from '../support/queue-deaths.ts';
import { instants, printedSeed } from '../support/sampling.ts';

const DEATHS = 8;
const seed = printedSeed('merge queue deaths');

test('entries whose calls die end with all of the fork in the target, or nothing', async () => {
  const ended = await dieInQueue((requests) => {
    expect(requests).toBeGreaterThan(DEATHS);
    return instants(requests, DEATHS, seed).map((at, n) => ({
      request: 1 + Math.floor(at),
      when: (n + seed) % 2 === 0 ? ('before' as const) : ('after' as const),
    }));
  });
  process.stdout.write(`${JSON.stringify(ended)}\n`);
  expect(Object.values(ended).reduce((sum, count) => sum + count, 0)).toBe(DEATHS + 1);
}, 600_000);

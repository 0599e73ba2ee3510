import { expect, test } from 'vitest';
import { runLocks } from '../support/lock-cases.ts';
import { printedSeed } from '../support/sampling.ts';

test('200 sagas over 10 resources, with kills', async () => {
  const seed = printedSeed('locks');
  const tally = await runLocks(seed, { sagas: 200, keys: 10 });
  process.stdout.write(`${JSON.stringify(tally)}\n`);
  expect(tally.completed + tally.compensated, `seed ${seed}`).toBe(200);
  expect(tally.deaths, `seed ${seed}`).toBeGreaterThan(5);
}, 900_000);

test('many worlds of 25 sagas, in which others act between any two calls and the clock stands still for them', async () => {
  const first = printedSeed('locks that meet');
  for (let seed = first; seed < first + 200; seed += 1) {
    const tally = await runLocks(seed, { sagas: 25, keys: 4, meets: 0.2, coarseMs: 10_000 });
    expect(tally.completed + tally.compensated, `seed ${seed}`).toBe(25);
  }
}, 900_000);

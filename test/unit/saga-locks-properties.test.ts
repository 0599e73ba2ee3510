import { expect, test } from 'vitest';
import { runLocks } from '../support/lock-cases.ts';
import { longTest } from '../support/sampled-test.ts';
import { chosenSeed, printedSeed } from '../support/sampling.ts';

test('no deadlock, no starvation, never two sagas on one resource, never more than the project allows', async () => {
  const seed = chosenSeed();
  for (const isUnlimited of [false, true]) {
    const tally = await runLocks(seed, { sagas: 25, keys: 4, isUnlimited });
    process.stdout.write(`locks: SEED=${seed} ${JSON.stringify(tally)}\n`);
    expect(tally.completed + tally.compensated, `seed ${seed}`).toBe(25);
    if (isUnlimited) expect(tally.waited, `seed ${seed}`).toBeGreaterThan(5);
  }
}, 300_000);

test('the same when others act between any two calls of the store, and the clock stands still for them', async () => {
  const seed = chosenSeed();
  const tally = await runLocks(seed, { sagas: 25, keys: 4, meets: 0.2, coarseMs: 10_000 });
  expect(tally.completed + tally.compensated, `seed ${seed}`).toBe(25);
}, 300_000);

longTest(
  '200 sagas over 10 resources, with kills',
  async () => {
    const seed = printedSeed('locks');
    const tally = await runLocks(seed, { sagas: 200, keys: 10 });
    process.stdout.write(`${JSON.stringify(tally)}\n`);
    expect(tally.completed + tally.compensated, `seed ${seed}`).toBe(200);
    expect(tally.deaths, `seed ${seed}`).toBeGreaterThan(5);
  },
  900_000,
);

longTest(
  'many worlds of 25 sagas, in which others act between any two calls and the clock stands still for them',
  async () => {
    const first = printedSeed('locks that meet');
    for (let seed = first; seed < first + 200; seed += 1) {
      const tally = await runLocks(seed, { sagas: 25, keys: 4, meets: 0.2, coarseMs: 10_000 });
      expect(tally.completed + tally.compensated, `seed ${seed}`).toBe(25);
    }
  },
  900_000,
);

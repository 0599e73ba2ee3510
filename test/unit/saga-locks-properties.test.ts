import { expect, test } from 'vitest';
import { runLocks } from '../support/lock-cases.ts';
import { chosenSeed } from '../support/sampling.ts';

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

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

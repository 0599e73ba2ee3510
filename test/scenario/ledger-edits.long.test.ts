import { expect, test } from 'vitest';
import { tamper } from '../support/ledger-edit-cases.ts';
import { chosenSeed, sampled } from '../support/sampling.ts';

test('every edit of every stored attribute of a saga that ended', async () => {
  const seed = chosenSeed();
  const tally = await tamper(seed, (edits) => sampled(edits, { every: 4, minimum: 100 }));
  expect(tally.named, `seed ${seed}: ${JSON.stringify(tally)}`).toBeGreaterThan(100);
}, 900_000);

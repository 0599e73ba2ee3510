/** A sample of every edit of every stored attribute; all of them in ledger-edits.long.test.ts. */
import { expect, test } from 'vitest';
import { tamper } from '../support/ledger-edit-cases.ts';
import { chosenSeed, sampled } from '../support/sampling.ts';

test('any edit of what is stored of a saga that ended is named, or is of what is stated as not covered', async () => {
  const seed = chosenSeed();
  const tally = await tamper(seed, (edits) => sampled(edits, { every: 160, offset: seed % 160, minimum: 2 }));
  expect(tally.named, `seed ${seed}: ${JSON.stringify(tally)}`).toBeGreaterThanOrEqual(3);
}, 120_000);

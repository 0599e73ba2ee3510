/** A sample of every edit of every stored attribute, others each time; a larger one in `npm run test:long`: about 370 of 970. */
import { expect, test } from 'vitest';
import { tamper } from '../support/ledger-edit-cases.ts';
import { longTest } from '../support/sampled-test.ts';
import { chosenSeed, sampled } from '../support/sampling.ts';

const EDITS = 200;

test('any edit of what is stored of a saga that ended is named, or is of what is stated as not covered', async () => {
  const seed = chosenSeed();
  const tally = await tamper(seed, (edits) => sampled(edits, { every: 160, offset: seed % 160, minimum: 2 }));
  expect(tally.named, `seed ${seed}: ${JSON.stringify(tally)}`).toBeGreaterThanOrEqual(3);
}, 120_000);

longTest(
  'many edits of what is stored of sagas that ended',
  async () => {
    const seed = chosenSeed();
    const tally = await tamper(seed, (edits) => {
      const every = Math.ceil(edits.length / EDITS);
      return edits.filter((_, at) => at % every === seed % every);
    });
    expect(tally.edits, `seed ${seed}: ${JSON.stringify(tally)}`).toBeGreaterThan(EDITS);
    expect(tally.named, `seed ${seed}: ${JSON.stringify(tally)}`).toBeGreaterThan(EDITS * 0.8);
    process.stdout.write(`edits, seed ${seed}: ${JSON.stringify(tally)}\n`);
  },
  900_000,
);

/** A sample of every edit of every stored attribute, others each time; a larger one in `npm run test:long`: about 370 of 970. */
import { expect, test } from 'vitest';
import { tamper } from '../support/ledger-edit-cases.ts';
import { longTest } from '../support/sampled-test.ts';
import { chosenSeed } from '../support/sampling.ts';

/** As many of the edits of one saga as a run has time for, others with each seed. */
const some =
  (most: number, seed: number) =>
  <T>(edits: readonly T[]): T[] => {
    const every = Math.ceil(edits.length / most);
    return edits.filter((_, at) => at % every === seed % every);
  };

const FEW = 3;
const MANY = 200;

test('any edit of what is stored of a saga that ended is named, or is of what is stated as not covered', async () => {
  const seed = chosenSeed();
  const tally = await tamper(seed, some(FEW, seed));
  expect(tally.named, `seed ${seed}: ${JSON.stringify(tally)}`).toBeGreaterThanOrEqual(3);
}, 120_000);

longTest(
  'many edits of what is stored of sagas that ended',
  async () => {
    const seed = chosenSeed();
    const tally = await tamper(seed, some(MANY, seed));
    expect(tally.edits, `seed ${seed}: ${JSON.stringify(tally)}`).toBeGreaterThan(MANY);
    expect(tally.named, `seed ${seed}: ${JSON.stringify(tally)}`).toBeGreaterThan(MANY * 0.8);
    process.stdout.write(`edits, seed ${seed}: ${JSON.stringify(tally)}\n`);
  },
  900_000,
);

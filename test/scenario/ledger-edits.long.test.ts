/** More edits than the sample has, other ones each time: about 370 of 970, half a minute on a quiet machine. */
import { expect, test } from 'vitest';
import { tamper } from '../support/ledger-edit-cases.ts';
import { chosenSeed } from '../support/sampling.ts';

const EDITS = 200;

test('many edits of what is stored of sagas that ended', async () => {
  const seed = chosenSeed();
  const tally = await tamper(seed, (edits) => {
    const every = Math.ceil(edits.length / EDITS);
    return edits.filter((_, at) => at % every === seed % every);
  });
  expect(tally.edits, `seed ${seed}: ${JSON.stringify(tally)}`).toBeGreaterThan(EDITS);
  expect(tally.named, `seed ${seed}: ${JSON.stringify(tally)}`).toBeGreaterThan(EDITS * 0.8);
  process.stdout.write(`edits, seed ${seed}: ${JSON.stringify(tally)}\n`);
}, 900_000);

/**
 * Every command that a capture starts, ended or cut short: what the capture then says is complete and equal to one that
 * nobody disturbed, or it is told (C4, C5). In `npm run test:long` every fourth of
 * them, and all of those of calls that only look; a sample here, others each time.
 */
import { expect } from 'vitest';
import { captureFaults, readFaults } from '../support/capture-faults.ts';
import { sampledTest } from '../support/sampled-test.ts';
import { chosenSeed, WHOLE } from '../support/sampling.ts';

const test = sampledTest('git-faults-capture', 2);

test('a capture whose commands fail is whole, or says what it lacks', async () => {
  const [every, least] = WHOLE ? [4, 20] : [41, 1];
  expect(await captureFaults({ every, seed: chosenSeed() })).toBeGreaterThanOrEqual(least);
});

test('survey, directories and diff say what is there, or that they cannot', async () => {
  const [every, least] = WHOLE ? [1, 25] : [61, 1];
  expect(await readFaults({ every, seed: chosenSeed() })).toBeGreaterThanOrEqual(least);
});

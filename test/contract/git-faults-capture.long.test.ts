/** `git-faults-capture.test.ts` at length: every thirteenth of all calls and ways to fail of a capture, others with each seed; all of those that only look. */
import { expect, test } from 'vitest';
import { captureFaults, readFaults } from '../support/capture-faults.ts';
import { chosenSeed } from '../support/sampling.ts';

test('a capture whose commands fail is whole, or says what it lacks', { timeout: 1_200_000 }, async () => {
  expect(await captureFaults({ every: 13, seed: chosenSeed() })).toBeGreaterThanOrEqual(25);
});

test('survey, directories and diff say what is there, or that they cannot', {
  timeout: 1_200_000,
}, async () => {
  expect(await readFaults({ every: 1, seed: chosenSeed() })).toBeGreaterThanOrEqual(25);
});

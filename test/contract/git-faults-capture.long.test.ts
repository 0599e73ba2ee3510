/** `git-faults-capture.test.ts` at length: every sixth of all calls and ways to fail, another sixth with each seed. */
import { expect, test } from 'vitest';
import { captureFaults, readFaults } from '../support/capture-faults.ts';
import { chosenSeed } from '../support/sampling.ts';

test('a capture whose commands fail is whole, or says what it lacks', { timeout: 1_200_000 }, async () => {
  expect(await captureFaults({ every: 6, seed: chosenSeed() })).toBeGreaterThanOrEqual(60);
});

test('survey, directories and diff say what is there, or that they cannot', {
  timeout: 600_000,
}, async () => {
  expect(await readFaults({ every: 2, seed: chosenSeed() })).toBeGreaterThanOrEqual(60);
});

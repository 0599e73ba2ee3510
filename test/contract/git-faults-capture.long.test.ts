/** The whole of `git-faults-capture.test.ts`: every command, every call, every way to fail. */
import { expect, test } from 'vitest';
import { captureFaults, readFaults } from '../support/capture-faults.ts';
import { chosenSeed } from '../support/sampling.ts';

test('every command of a capture fails once, in every way', { timeout: 1_200_000 }, async () => {
  expect(await captureFaults({ every: 1, minimum: 200, seed: chosenSeed() })).toBeGreaterThanOrEqual(300);
});

test('every command that only looks fails once, in every way', { timeout: 600_000 }, async () => {
  expect(await readFaults({ every: 1, minimum: 50, seed: chosenSeed() })).toBeGreaterThanOrEqual(100);
});

/**
 * Every command that a capture starts, ended or cut short: what the capture then says is complete and equal to one that
 * nobody disturbed, or it is told (C4, C5). All of it in `npm run test:long`, a sample here.
 */
import { expect } from 'vitest';
import { captureFaults, readFaults } from '../support/capture-faults.ts';
import { inTurn } from '../support/sampled-test.ts';
import { chosenSeed } from '../support/sampling.ts';

const test = inTurn('git-faults-capture');

test('a capture whose commands fail is whole, or says what it lacks', { timeout: 600_000 }, async () => {
  const ran = await captureFaults({ every: 181, seed: chosenSeed() });
  expect(ran).toBeGreaterThanOrEqual(2);
});

test('survey, directories and diff say what is there, or that they cannot', {
  timeout: 600_000,
}, async () => {
  const ran = await readFaults({ every: 61, seed: chosenSeed() });
  expect(ran).toBeGreaterThanOrEqual(3);
});

/**
 * Every command that a capture starts, ended or cut short: what the capture then says is complete and equal to one that
 * nobody disturbed, or it is told (C4, C5). All of it in `npm run test:long`, a sample here.
 */
import { expect } from 'vitest';
import { captureFaults, readFaults } from '../support/capture-faults.ts';
import { sampledTest } from '../support/sampled-test.ts';
import { chosenSeed } from '../support/sampling.ts';

const test = sampledTest('git-faults-capture', 2);

test('a capture whose commands fail is whole, or says what it lacks', async () => {
  const ran = await captureFaults({ every: 181, seed: chosenSeed() });
  expect(ran).toBeGreaterThanOrEqual(2);
});

test('survey, directories and diff say what is there, or that they cannot', async () => {
  const ran = await readFaults({ every: 61, seed: chosenSeed() });
  expect(ran).toBeGreaterThanOrEqual(3);
});

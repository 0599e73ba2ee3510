/** Little memory in the sandbox: what a process that runs out of it did not do is never taken for done. At length in `npm run test:long`. */
import { expect } from 'vitest';
import { capturesInLittleMemory, restoresInLittleMemory } from '../support/low-memory.ts';
import { inTurn } from '../support/sampled-test.ts';
import { printedSeed, sampled, WHOLE } from '../support/sampling.ts';

const test = inTurn('git-low-memory');
const runIf = (isChosen: boolean) => (isChosen ? test : test.skip);

const STEPS = WHOLE ? 14 : 3;
const SEED = printedSeed('low memory');
const SHIFT = (SEED % 100) / 100;
/** One of them, the other one at another time; both in a whole run. */
const OPERATIONS = sampled(['capture', 'restore'], { every: 2, offset: SEED });

const total = (ends: Map<string, number>): number => [...ends.values()].reduce((sum, one) => sum + one, 0);

runIf(OPERATIONS.includes('capture'))(
  'a capture in little memory is whole, or says what it lacks',
  async () => {
    const ends = await capturesInLittleMemory(STEPS, SHIFT);
    process.stdout.write(`captures in little memory: ${JSON.stringify([...ends])}\n`);
    expect(total(ends)).toBe(STEPS);
    expect(total(ends) - (ends.get('whole') ?? 0), 'some ran out of it').toBeGreaterThan(0);
  },
);

runIf(OPERATIONS.includes('restore'))('a restore in little memory is at the target, or told', async () => {
  const ends = await restoresInLittleMemory(STEPS, SHIFT);
  process.stdout.write(`restores in little memory: ${JSON.stringify([...ends])}\n`);
  expect(total(ends)).toBe(STEPS);
  expect(total(ends) - (ends.get('applied') ?? 0), 'some ran out of it').toBeGreaterThan(0);
});

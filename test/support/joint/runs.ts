/** Worlds of random joint work, one after the other. */
import { expect } from 'vitest';
import { createTally, type Tally } from '../book/tally.ts';
import { playJoint } from './world.ts';

/** Answers what came up. */
export const playJointWorlds = async (worlds: number, seed: number): Promise<Tally> => {
  const tally = createTally();
  const found: string[] = [];
  for (let world = seed; world < seed + worlds; world += 1) {
    const problems = await playJoint(world, tally).catch((error: unknown) => [String(error)]);
    found.push(...problems.map((problem) => `SEED=${world}: ${problem}`));
  }
  process.stdout.write(`joint work: ${JSON.stringify(tally.counts())}\n`);
  expect(found.slice(0, 20)).toEqual([]);
  return tally;
};

/** Random work on real git that a test plays some times, by the seed of the run. */
import * as fc from 'fast-check';
import { printedSeed } from './sampling.ts';

/**
 * Plays so many (RUNS: another number), and answers the mean of what each answered. A failure ends it, as real git is too slow to
 * look for a shorter one; SHRINK=1 looks.
 */
export const meanOfRuns = async <Work>(
  name: string,
  runs: number,
  works: fc.Arbitrary<Work>,
  play: (work: Work) => Promise<number>,
): Promise<number> => {
  const numRuns = Number(process.env['RUNS'] ?? runs);
  const seed = printedSeed(`${name}, RUNS=${numRuns}`);
  let sum = 0;
  await fc.assert(
    fc.asyncProperty(works, async (work) => {
      sum += await play(work);
    }),
    { seed, numRuns, endOnFailure: process.env['SHRINK'] !== '1' },
  );
  process.stdout.write(`${name}: ${sum}\n`);
  return sum / numRuns;
};

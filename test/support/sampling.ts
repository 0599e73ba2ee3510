/** Matrices and random runs: a sample in `npm test`, all of it, or most, in `npm run test:long`. */

/** Set by `npm run test:long`. */
export const WHOLE = process.env['WALKBACK_WHOLE'] === '1';

interface Sample {
  /** In `npm test`: every nth case. */
  every: number;
  /** In `npm run test:long`: every nth case, where all of them would take too long. Default: all of them. */
  whole?: number;
  /** Which one to begin with: a seed, so that many runs see every case. */
  offset?: number;
  /** Fewer is an error: a matrix that runs nothing shows nothing. */
  minimum?: number;
}

export const sampled = <T>(
  cases: readonly T[],
  { every, whole = 1, offset = 0, minimum = 1 }: Sample,
): T[] => {
  const step = WHOLE ? whole : every;
  const chosen = cases.filter((_, index) => index % step === offset % step);
  if (chosen.length < minimum)
    throw new Error(
      `Only ${chosen.length} of ${cases.length} cases were chosen; at least ${minimum} must run.`,
    );
  return chosen;
};

/** The seed of a random run: the one asked for by SEED, else a new one. Print it, so that the run can be done again. */
export const chosenSeed = (): number => Number(process.env['SEED'] ?? Math.floor(Math.random() * 2 ** 31));

/** The same, printed at once. */
export const printedSeed = (name: string): number => {
  const seed = chosenSeed();
  process.stdout.write(`${name}: SEED=${seed}\n`);
  return seed;
};

/** Instants spread over something that takes so long, shifted by a seed. */
export const instants = (ms: number, count: number, seed: number): number[] =>
  Array.from({ length: count }, (_, index) => (ms * (index + ((seed * 0.618_034) % 1))) / count);

/** Matrices and random runs: a sample in `npm test`, all of it in `npm run test:long`. */

/** Set by `npm run test:long`. */
export const WHOLE = process.env['WALKBACK_WHOLE'] === '1';

/** Every nth case, beginning with the one at `offset`; all of them in a whole run. Never fewer than `minimum`. */
export const sampled = <T>(
  cases: readonly T[],
  { every, offset = 0, minimum = 1 }: { every: number; offset?: number; minimum?: number },
): T[] => {
  const chosen = WHOLE ? [...cases] : cases.filter((_, index) => index % every === offset % every);
  if (chosen.length < minimum)
    throw new Error(
      `Only ${chosen.length} of ${cases.length} cases were chosen; at least ${minimum} must run.`,
    );
  return chosen;
};

/** The seed of a random run: the one asked for by SEED, else a new one. Print it, so that the run can be done again. */
export const chosenSeed = (): number => Number(process.env['SEED'] ?? Math.floor(Math.random() * 2 ** 31));

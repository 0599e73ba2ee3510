/** For files with many cases of their own, each on real git: a share of them in `npm test`, all of them in a whole run. */
import { type TestAPI, type TestOptions, test } from 'vitest';
import { isItsTurn, printedSeed, type TakesTurns, WHOLE } from './sampling.ts';

/** As `test`, for every nth case of a file, others each time. The rest are shown as skipped. */
export const sampledTest = (
  name: string,
  every: number,
): ((title: string, work: () => Promise<void>, options?: TestOptions) => void) => {
  const offset = printedSeed(name);
  let count = 0;
  return (title, work, options = {}) => {
    const isChosen = WHOLE || (count + offset) % every === 0;
    count += 1;
    test.runIf(isChosen)(title, options, work);
  };
};

/** As `test`, when the file has its turn; else its tests are shown as skipped, and its hooks do not run. */
export const inTurn = (name: TakesTurns): TestAPI => (isItsTurn(name) ? test : test.skip) as TestAPI;

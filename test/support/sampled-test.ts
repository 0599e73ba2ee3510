/** For files with many cases of their own, each on real git: a share of them in `npm test`, all of them in a whole run. */
import { type TestAPI, type TestOptions, test } from 'vitest';
import { isItsTurn, printedSeed, type TakesTurns, WHOLE } from './sampling.ts';

interface SampledTest {
  (title: string, work: () => Promise<void>, options?: TestOptions): void;
  /** As `test.for`: each of these is a case. */
  for: <const T>(
    cases: readonly T[],
  ) => (title: string, work: (one: T) => Promise<void>, options?: TestOptions) => void;
}

/** As `test`, for every nth case of a file, others each time, when the file has its turn. The rest are shown as skipped. */
export const sampledTest = (file: string, every: number): SampledTest => {
  const offset = printedSeed(file);
  const isPlayed = isItsTurn(file);
  let count = 0;
  const chosenTest = () => {
    const isChosen = WHOLE || (isPlayed && (count + offset) % every === 0);
    count += 1;
    return test.runIf(isChosen);
  };
  const sampled: SampledTest = (title, work, options = {}) => {
    chosenTest()(title, options, work);
  };
  sampled.for =
    (cases) =>
    (title, work, options = {}) => {
      for (const one of cases) chosenTest().for([one])(title, options, work);
    };
  return sampled;
};

/** As `test`, of what only `npm run test:long` plays. */
export const longTest: TestAPI = (WHOLE ? test : test.skip) as TestAPI;

/** As `test`, when the file has its turn; else its tests are shown as skipped, and its hooks do not run. */
export const inTurn = (file: TakesTurns): TestAPI => (isItsTurn(file) ? test : test.skip) as TestAPI;

/** `git-torn-shadow.test.ts` at length: every eleventh of all kinds of files, tears and calls, others with each seed. */
import { expect, test } from 'vitest';
import { chosenSeed } from '../support/sampling.ts';
import { tornShadows } from '../support/torn-shadows.ts';

test('a call on a torn shadow comes to what it comes to on a whole one', { timeout: 1_200_000 }, async () => {
  expect(await tornShadows({ every: 11, seed: chosenSeed() })).toBeGreaterThanOrEqual(80);
});

/**
 * Every kind of file of a shadow, empty, cut, overwritten or gone, before every kind of call: the call comes to what it
 * comes to on a whole shadow. Every seventh case in `npm run test:long`, a few here, others each time.
 */
import { expect } from 'vitest';
import { sampledTest } from '../support/sampled-test.ts';
import { chosenSeed, WHOLE } from '../support/sampling.ts';
import { tornShadows } from '../support/torn-shadows.ts';

const test = sampledTest('git-torn-shadow', 1);

test('a call on a torn shadow comes to what it comes to on a whole one', async () => {
  const [every, least] = WHOLE ? [7, 80] : [149, 4];
  expect(await tornShadows({ every, seed: chosenSeed() })).toBeGreaterThanOrEqual(least);
});

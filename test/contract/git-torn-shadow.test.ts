/**
 * Every kind of file of a shadow, empty, cut, overwritten or gone, before every kind of call: the call comes to what it
 * comes to on a whole shadow. All of it in `npm run test:long`, a few here.
 */
import { expect } from 'vitest';
import { sampledTest } from '../support/sampled-test.ts';
import { chosenSeed } from '../support/sampling.ts';
import { tornShadows } from '../support/torn-shadows.ts';

const test = sampledTest('git-torn-shadow', 1);

test('a call on a torn shadow comes to what it comes to on a whole one', async () => {
  expect(await tornShadows({ every: 149, seed: chosenSeed() })).toBeGreaterThanOrEqual(5);
});

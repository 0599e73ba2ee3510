/** Every checkpoint of a session restores, whatever its content did: a sample here, long ones, also with the limits of a release, in `npm run test:long`. */
import { expect, test } from 'vitest';
import { meanOfRuns } from '../support/random-runs.ts';
import { allRestore, type Edit, edits, SMALL_LIMITS } from '../support/random-session.ts';
import { longTest } from '../support/sampled-test.ts';

test('every checkpoint of a random session restores, with links of all sizes', async () => {
  const play = async (all: Edit[]) => (await allRestore(all, SMALL_LIMITS)).length;
  const all = edits({ minLength: 6, maxLength: 7 });
  expect(await meanOfRuns('git-random-session', 1, all, play)).toBeGreaterThan(2);
});

longTest.each([
  ['with small limits', SMALL_LIMITS],
  ['with the limits of a release', {}],
])('every checkpoint of a long random session restores, %s', async (_which, limits) => {
  const play = async (all: Edit[]) => (await allRestore(all, limits)).length;
  const all = edits({ minLength: 28, maxLength: 32 });
  expect(await meanOfRuns('git-random-session', 1, all, play)).toBeGreaterThan(15);
});

/** Laws of three-way merges over generated repositories: one of them here, more in `npm run test:long`. */
import * as fc from 'fast-check';
import { generated, lawsHold } from '../support/merge-laws.ts';
import { inTurn } from '../support/sampled-test.ts';
import { printedSeed, WHOLE } from '../support/sampling.ts';

const test = inTurn('git-merge-laws');

test('merges are nothing, equal, commute and can be taken back, whatever the repositories hold', {
  timeout: 960_000,
}, async () => {
  const seed = printedSeed('merge laws');
  await fc.assert(fc.asyncProperty(generated, lawsHold), {
    seed,
    numRuns: WHOLE ? 6 : 1,
    endOnFailure: true,
  });
});

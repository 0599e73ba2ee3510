import { lateFaults } from '../support/late-faults.ts';
import { inTurn } from '../support/sampled-test.ts';
import { chosenSeed } from '../support/sampling.ts';

const test = inTurn('git-late-faults');

test('late writes of which any one call of git fails are captured whole, or told', {
  timeout: 1_200_000,
}, () => {
  const seed = chosenSeed();
  process.stderr.write(`SEED=${seed}\n`);
  return lateFaults(4, seed);
});

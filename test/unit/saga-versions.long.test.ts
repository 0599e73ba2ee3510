import { expect, test } from 'vitest';
import { chosenSeed } from '../support/sampling.ts';
import { checkVersions } from '../support/version-cases.ts';

test('the same in many worlds', async () => {
  const seed = chosenSeed();
  const tally = await checkVersions(seed, 2_000);
  process.stdout.write(`versions: SEED=${seed} ${JSON.stringify(tally)}\n`);
  expect(tally.rewound, `seed ${seed}`).toBeGreaterThan(100);
}, 300_000);

import { expect, test } from 'vitest';
import { chosenSeed, WHOLE } from '../support/sampling.ts';
import { checkVersions } from '../support/version-cases.ts';

test('each call is of the version that its step was pinned with, and nobody is asked twice or not at all', async () => {
  const seed = chosenSeed();
  const tally = await checkVersions(seed, WHOLE ? 2_000 : 40);
  process.stdout.write(`versions: SEED=${seed} ${JSON.stringify(tally)}\n`);
  expect(tally.calls, `seed ${seed}`).toBeGreaterThan(20);
  if (WHOLE) expect(tally.rewound, `seed ${seed}`).toBeGreaterThan(100);
}, 300_000);

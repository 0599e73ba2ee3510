/** Many of the sessions that checkpoint-abandoned-properties.test.ts plays some of. */
import { expect, test } from 'vitest';
import { playRandomSessions } from '../support/fakes/random-session.ts';
import { chosenSeed } from '../support/sampling.ts';

test('in many sessions with rollbacks that break off, nothing that was there is ever lost', async () => {
  const seed = chosenSeed();
  process.stdout.write(`abandoned rollbacks, many: SEED=${seed}\n`);
  expect(await playRandomSessions(1000, seed)).toBeGreaterThan(100);
}, 240_000);

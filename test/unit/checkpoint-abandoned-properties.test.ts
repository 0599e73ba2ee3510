import { expect, test } from 'vitest';
import { playRandomSessions } from '../support/fakes/random-session.ts';
import { chosenSeed } from '../support/sampling.ts';

test('in any session with rollbacks that break off, nothing that was there is ever lost', async () => {
  const seed = chosenSeed();
  process.stdout.write(`abandoned rollbacks: SEED=${seed}\n`);
  expect(await playRandomSessions(40, seed)).toBeGreaterThan(0);
}, 240_000);

import { expect, test } from 'vitest';
import { playRandomSessions } from '../support/fakes/random-session.ts';
import { chosenSeed, WHOLE } from '../support/sampling.ts';

test('in any session with rollbacks that break off, nothing that was there is ever lost', async () => {
  const seed = chosenSeed();
  process.stdout.write(`abandoned rollbacks: SEED=${seed}\n`);
  const [sessions, least] = WHOLE ? [1000, 100] : [40, 0];
  expect(await playRandomSessions(sessions, seed)).toBeGreaterThan(least);
}, 240_000);

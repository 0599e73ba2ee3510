/**
 * `kill -9` in the middle of the functions that drive sagas themselves, before or after any request that they make to a service.
 * The same calls again come to their end, nothing has taken effect twice, and the ledgers hold.
 */
import { expect, test } from 'vitest';
import { type Instant, killInFunctions } from '../support/inline-deaths.ts';
import { printedSeed } from '../support/sampling.ts';

/** Six calls side by side make more than these. */
const REQUESTS = 30;
const ROUNDS = 8;
const seed = printedSeed('saga inline kill');

/** Spread over the requests, and others with another seed. */
const INSTANTS = Array.from({ length: ROUNDS }, (_, n): Instant => {
  const share = (n + ((seed * 0.618_034) % 1)) / ROUNDS;
  return { request: 1 + Math.floor(share * REQUESTS), when: (seed + n) % 2 === 0 ? 'before' : 'after' };
});

test('kill -9 in the functions that drive sagas: the same calls again end them, and nothing happens twice', async () => {
  process.stdout.write(`${INSTANTS.map(({ request, when }) => `${when} ${request}`).join(', ')}\n`);
  const lost = await killInFunctions(INSTANTS);
  const calls = Object.values(lost).reduce((sum, count) => sum + count, 0);
  expect(calls).toBeGreaterThanOrEqual(ROUNDS);
  // Each function died in some round.
  expect(Object.keys(lost).sort()).toEqual(
    expect.arrayContaining(['call', 'complete', 'inline', 'submit', 'unwind']),
  );
}, 1_500_000);

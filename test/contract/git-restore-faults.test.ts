/** Any command of a restore may fail, in any way: nothing is lost, what happened is told, and the next call arrives. */
import { expect, test } from 'vitest';
import { callsOf, faultsOf, faultWorld, meetsFault } from '../support/restore-faults.ts';
import { chosenSeed, sampled } from '../support/sampling.ts';

/** One in so many of all faults. */
const EVERY = Number(process.env['FAULT_EVERY'] ?? 211);

test('a restore of which any one command fails is at the target, or told', {
  timeout: 1_200_000,
}, async () => {
  await using world = await faultWorld();
  const faults = faultsOf(await callsOf(world));
  const seed = chosenSeed();
  process.stderr.write(`${faults.length} faults, SEED=${seed}\n`);
  const wrong: string[] = [];
  const outcomes = new Map<string, number>();
  for (const fault of sampled(faults, { every: EVERY, offset: seed, minimum: 6 })) {
    const outcome = await meetsFault(world, fault).catch((error: unknown) => {
      process.stderr.write(`${String(error)}\n`);
      wrong.push(String(error));
      return 'wrong';
    });
    outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
  }
  expect(wrong).toEqual([]);
  // Some commands fail without harm; not all may.
  const told = [...outcomes].filter(([name]) => name !== 'applied' && name !== 'not met');
  expect(told.length, JSON.stringify([...outcomes])).toBeGreaterThan(0);
});

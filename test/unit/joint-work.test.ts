/**
 * Sagas, sessions and forks at once, over the real core in memory: rewinds of the session, rollbacks, the merge queue, payments and an
 * agent's steps. Others act between any two calls of the stores, functions die before or after a call, services fail, restores break
 * off at a file. Then all is compared: effects, files, timeline, merges, and that everything comes to its end.
 */
import { expect, test } from 'vitest';
import { createTally, type Tally } from '../support/book/tally.ts';
import { playJoint } from '../support/joint/world.ts';
import { printedSeed, WHOLE } from '../support/sampling.ts';

/** A few, others each time; all of these in `npm run test:long`. */
const WORLDS = WHOLE ? 120 : 3;

/** What happens in so many worlds. */
const EXPECTED = [
  'interrupted',
  'died before a call',
  'died after a call',
  'failed before a call',
  'failed after a call',
  'broke off at a file',
  'merge checkpoint',
  'revert checkpoint',
  'merge COMPLETED',
  'merge COMPENSATED',
  'merges compared',
  'undone',
  'pay COMPLETED',
  'pay COMPENSATED',
  'live COMPLETED',
  'live COMPENSATED',
  'rewind STOPPED',
  'rewind UNDOING',
  'rewound all',
  'rewound effects',
  'rewound conversation',
  'refused StaleEpoch',
  'refused PointOfNoReturn',
];

/** Plays worlds one after the other, and answers what came up. */
const playJointWorlds = async (worlds: number, seed: number): Promise<Tally> => {
  const tally = createTally();
  const found: string[] = [];
  for (let world = seed; world < seed + worlds; world += 1) {
    const problems = await playJoint(world, tally).catch((error: unknown) => [String(error)]);
    found.push(...problems.map((problem) => `SEED=${world}: ${problem}`));
  }
  process.stdout.write(`joint work: ${JSON.stringify(tally.counts())}\n`);
  expect(found.slice(0, 20)).toEqual([]);
  return tally;
};

test('whatever dies or comes between, nothing is lost, and each merge is there once or not at all', async () => {
  const tally = await playJointWorlds(WORLDS, printedSeed('joint-work'));
  expect(tally.of('pay COMPLETED') + tally.of('pay COMPENSATED')).toBeGreaterThan(0);
  if (WHOLE) expect(EXPECTED.filter((name) => tally.of(name) === 0)).toEqual([]);
}, 900_000);

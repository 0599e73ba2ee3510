/**
 * The machine and the functions of sagas in virtual time, with random plans, trees, agents, people and faults. Others act between any two
 * calls of the store, and callers die and ask again. The tools keep a book of what they did. At the end it agrees with the ledger, its
 * rows and totals in every view, its export, and what was told.
 */
import { expect, test } from 'vitest';
import { FAULTS } from '../support/book/faults.ts';
import { createTally } from '../support/book/tally.ts';
import { playWorld } from '../support/book/world.ts';
import { printedSeed } from '../support/sampling.ts';

const WORLDS = 550;

const FACTS = [
  'saga: completed compensated compensation_failed rewound sealed idle parked unparked step_settled',
  'saga: cancel_requested undo_requested unwind_requested rewind_requested',
  'step: refused unwinding',
  'approval: approved declined expired',
  'operator: resolved skipped',
  'lock: waiting',
  'slot: queued',
].flatMap((line) => {
  const [direction = '', statuses = ''] = line.split(': ');
  return statuses.split(' ').map((status) => `${direction} ${status}`);
});

test('the ledger and what is told of it agree with what the tools did', async () => {
  const seed = printedSeed('saga-book');
  const tally = createTally();
  const found: string[] = [];
  for (let world = seed; world < seed + WORLDS; world += 1) {
    const problems = await playWorld(world, tally).catch((error: unknown) => [String(error)]);
    found.push(...problems.map((problem) => `SEED=${world}: ${problem}`));
  }
  process.stdout.write(`saga-book: ${JSON.stringify(tally.counts())}\n`);
  expect(found.slice(0, 20)).toEqual([]);
  expect(tally.of('sagas')).toBeGreaterThan(2 * WORLDS);
  const between = ['interrupted', 'died', 'again answer', 'again operate', 'again rewind', 'again submit'];
  const rows = ['stands', 'undone', 'resolved', 'skipped', 'accepted'].map((status) => `row ${status}`);
  const doubts = ['undone', 'resolved', 'skipped'].map((status) => `doubt ${status}`);
  const expected = [
    ...FACTS,
    ...rows,
    ...doubts,
    ...between,
    ...Object.keys(FAULTS).map((name) => `fault ${name}`),
  ];
  expect(expected.filter((name) => tally.of(name) === 0)).toEqual([]);
}, 600_000);

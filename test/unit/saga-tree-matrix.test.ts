/**
 * Every call of the store of every tree, and every failure at every step of every level. A sample, others each time; half of
 * them in `npm run test:long`.
 */
import { describe, expect } from 'vitest';
import { inTurn } from '../support/sampled-test.ts';
import { printedSeed, sampled, WHOLE } from '../support/sampling.ts';
import {
  callsOf,
  type Deed,
  faultCases,
  SHAPES,
  testAtCall,
  testFault,
  testOnTheWayBack,
} from '../support/tree-matrix.ts';

const test = inTurn('saga-tree-matrix');

const seed = printedSeed('saga-tree-matrix');
const DEEDS: Deed[] = ['dies before', 'dies after', 'is cancelled', 'is rewound'];

describe.each(Object.entries(SHAPES))('%s', (shape, plan) => {
  test.each(DEEDS)('whenever it %s', { timeout: 300_000 }, async (deed) => {
    const calls = await callsOf(plan);
    const all = Array.from({ length: calls }, (_, at) => at + 1);
    let done = 0;
    for (const call of sampled(all, {
      every: Math.min(61, calls),
      whole: deed === 'is rewound' ? 4 : 2,
      offset: seed,
      minimum: WHOLE ? 10 : 1,
    })) {
      await testAtCall(shape, plan, call, deed);
      done += 1;
    }
    expect(done).toBeGreaterThan(WHOLE ? 10 : 0);
  });
});

describe('every failure', () => {
  test.each(sampled(faultCases, { every: 41, whole: 2, offset: seed, minimum: WHOLE ? 100 : 5 }))(
    '$operation of $step $name, replayed: $replay',
    { timeout: 60_000 },
    async (one) => testFault(one),
  );
});

test.each(['is undone', 'is rewound'] as const)(
  'a completed tree %s, and something dies at any call on the way',
  { timeout: 300_000 },
  async (way) => {
    if (!WHOLE) {
      for (const call of [1 + (seed % 40), 41 + (seed % 60)])
        expect(await testOnTheWayBack(way, call)).toBe(true);
      return;
    }
    let died = 0;
    while (await testOnTheWayBack(way, died + 1)) died += 1;
    expect(died).toBeGreaterThan(50);
  },
);

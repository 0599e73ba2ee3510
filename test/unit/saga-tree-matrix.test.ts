/** A sample of the fault matrix of trees; the whole is in saga-tree-matrix.long.test.ts. */
import { describe, expect } from 'vitest';
import { inTurn } from '../support/sampled-test.ts';
import { printedSeed, sampled } from '../support/sampling.ts';
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
  test.each(DEEDS)('whenever it %s', async (deed) => {
    const calls = await callsOf(plan);
    expect(calls).toBeGreaterThan(50);
    const all = Array.from({ length: calls }, (_, at) => at + 1);
    for (const call of sampled(all, { every: Math.min(61, calls), offset: seed, minimum: 1 })) {
      await testAtCall(shape, plan, call, deed);
    }
  });
});

test.each(sampled(faultCases, { every: 41, offset: seed, minimum: 5 }))(
  '$operation of $step $name, replayed: $replay',
  async (one) => testFault(one),
);

test.each(['is undone', 'is rewound'] as const)(
  'a completed tree %s, and something dies on the way',
  async (way) => {
    for (const call of [1 + (seed % 40), 41 + (seed % 60)])
      expect(await testOnTheWayBack(way, call)).toBe(true);
  },
);

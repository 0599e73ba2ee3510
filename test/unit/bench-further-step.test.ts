import { expect, test } from 'vitest';
import { furtherStep, type Growth } from '../../bench/sagas/growth.ts';

const row = (steps: number, transitions: number, writeUnits: number): Growth => ({
  tier: 'machine',
  steps,
  calls: 0,
  transitions,
  writeUnits,
  withIndexes: writeUnits + 2 * steps,
  ms: 0,
});

test('what a further step takes of a saga is told without its fixed costs', () => {
  expect(furtherStep(row(5, 18, 42), row(50, 153, 342))).toMatchObject({
    transitions: { step: 3, fixed: 3 },
    writeUnits: { step: expect.closeTo(6.667, 3), fixed: expect.closeTo(8.667, 3) },
    withIndexes: { step: expect.closeTo(8.667, 3) },
  });
});

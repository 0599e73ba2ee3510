/**
 * Prepares what `decide` asks for: arguments, locks, children, outputs. Only code that drives a saga loads
 * this file.
 */
import { prepareLocks, withPermits } from '../permits/prepare-permits.ts';
import type { Evaluate } from '../ports.ts';
import type { Driver, Prepare } from '../prepare/driver.ts';
import { prepareStep } from '../prepare/prepare.ts';
import { prepareChildren, prepareChildrenStep, prepareOutput } from '../prepare/prepare-children.ts';
import { prepareUndo } from '../prepare/prepare-undo.ts';
import { createPrice } from '../prepare/price.ts';

const createPrepare =
  (evaluate: Evaluate): Prepare =>
  async (reading, state, facts, next) => {
    switch (next.next) {
      case 'prepare': {
        const step = await reading.step(next.step, state);
        const event =
          step.kind === 'children'
            ? await prepareChildrenStep(reading, state, facts, step, evaluate)
            : await prepareStep(reading, state, facts, step, evaluate);
        return withPermits(reading, state, facts, event);
      }
      case 'prepare-locks':
        return prepareLocks(reading, state);
      case 'prepare-undo':
        return prepareUndo(reading, state, next.effect);
      case 'prepare-children': {
        if (state.wait?.kind !== 'children') throw new RangeError('the saga waits for no children');
        return prepareChildren(reading, state, facts, state.wait);
      }
      case 'prepare-output':
        return prepareOutput(reading, state, facts, evaluate);
    }
  };

export const createDriver = (evaluate: Evaluate): Driver => ({
  prepare: createPrepare(evaluate),
  price: createPrice(evaluate),
});

import { executionLink } from '../adapters/aws/saga-engine.ts';
import { makeAdvance } from '../core/saga/advance.ts';
import { advanceInput, eventOf } from '../core/saga/engine-protocol.ts';
import { createHandler } from './handler.ts';
import { sagaPorts } from './saga-runtime.ts';

/** Internal: the state `Advance` of the machine. */
export const handler = createHandler('advance-saga', advanceInput, async (runtime) => {
  const advance = makeAdvance({ ...sagaPorts(runtime), executionLink });
  return ({ state, executionArn }) => advance(state.sagaId, state.generation, eventOf(state), executionArn);
});

import { createAdvance } from '../core/saga/run/advance.ts';
import { eventOf } from '../core/saga/run/engine-protocol.ts';
import { isNotServed } from '../core/saga/tools/engine-errors.ts';
import { advancePorts } from './execution-runtime.ts';
import { createHandler } from './handler.ts';
import { optional } from './runtime.ts';

/** Internal: the state `Advance` of the machine. */
export const handler = createHandler('advance-saga', async (runtime) => {
  const advance = createAdvance({
    ...advancePorts(runtime),
    consoleUrl: optional(runtime.env, 'WALKBACK_CONSOLE_URL'),
  });
  return async ({ state, executionArn }) => {
    const event = eventOf(state);
    const { annotate, measure } = runtime.telemetry;
    if (event.type === 'outcome' && isNotServed(event.outcome)) {
      measure('tool.unavailable', 1);
      runtime.log.warn('a tool is not there', { sagaId: state.sagaId, outcome: event.outcome });
    }
    const next = await advance(state.sagaId, state.generation, event, executionArn);
    annotate('sagaId', next.sagaId);
    annotate('action', next.action);
    // Distinguishes a span of forward work from one that takes work back.
    if (next.action === 'INVOKE') annotate('direction', next.operation.direction);
    return next;
  };
});

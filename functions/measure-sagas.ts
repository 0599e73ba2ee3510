import { createMeasureSagas } from '../core/saga/run/measure.ts';
import { createEventHandler } from './handler.ts';
import { sagaStore } from './saga-runtime.ts';

/** Internal: runs by the clock. Its answer is the metrics that alarms use. */
export const handler = createEventHandler('measure-sagas', async (runtime) => {
  const measure = createMeasureSagas({ store: sagaStore(runtime), clock: runtime.clock });
  return async () => {
    const gauges = await measure();
    for (const [name, value] of Object.entries(gauges)) runtime.telemetry.measure(name, value);
    return gauges;
  };
});

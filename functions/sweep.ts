import * as z from 'zod';
import { createSweep } from '../core/saga/run/sweep.ts';
import { createHandler } from './handler.ts';
import { sagaPorts } from './saga-runtime.ts';

const executionInput = z.object({ sagaId: z.string() });

/** The saga of a dead execution. Only the execution's input names it. */
const sagaOf = (text: string) => {
  const parsed = executionInput.safeParse(JSON.parse(text));
  return parsed.success ? { sagaId: parsed.data.sagaId, asked: false } : undefined;
};

/**
 * Runs by the clock, when an execution failed, timed out or was aborted (S11), and when an operator names a
 * saga.
 */
export const handler = createHandler('sweep', async (runtime) => {
  const sweep = createSweep(sagaPorts(runtime));
  return async ({ sagaId, detail }) => {
    if (sagaId !== undefined) return sweep({ sagaId, asked: true });
    const dead = detail?.input == null ? undefined : sagaOf(detail.input);
    const report = await sweep(dead);
    if (dead === undefined) runtime.telemetry.measure('UnalertedSagas', report.unalerted.length);
    return report;
  };
});

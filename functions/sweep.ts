import * as z from 'zod';
import { sweepInput } from '../core/saga/schemas.ts';
import { makeSweep } from '../core/saga/sweep.ts';
import { createHandler } from './handler.ts';
import { sagaPorts } from './saga-runtime.ts';

const executionInput = z.object({ sagaId: z.string() });

/** The saga of a dead execution: its input names it, and nothing else does. */
const sagaOf = (text: string): string | undefined => {
  const parsed = executionInput.safeParse(JSON.parse(text));
  return parsed.success ? parsed.data.sagaId : undefined;
};

/** Internal: by the clock, and when an execution failed, timed out or was aborted (S11). */
export const handler = createHandler('sweep', sweepInput, async (runtime) => {
  const sweep = makeSweep(sagaPorts(runtime));
  return ({ sagaId, detail }) =>
    sweep(sagaId ?? (detail?.input === undefined ? undefined : sagaOf(detail.input)));
});

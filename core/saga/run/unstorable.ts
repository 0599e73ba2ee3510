/** Decides what becomes of a move that the store would never accept. */
import { clip } from '../../shared/clip.ts';
import { WalkbackError } from '../../shared/errors.ts';
import type { Driver } from '../prepare/driver.ts';

const MAX_REASON_LENGTH = 300;

/**
 * What the store would not accept is not begun: its step, or the output, is refused. So what came before it
 * in the same move, for example the outcome of a call, is recorded, and the saga unwinds. The limits of plans
 * and results are checked first; this handles what they missed.
 */
export const withoutIt = (driver: Driver, reason: string): Driver => ({
  ...driver,
  prepare: async (reading, state, facts, next) => {
    const refusal = (what: string) => ({
      name: 'NotStorable',
      message: `The ledger does not take ${what}: ${clip(reason, MAX_REASON_LENGTH)}`,
    });
    if (next.next === 'prepare') {
      const step = await reading.step(next.step, state);
      return { type: 'unprepared', step, error: refusal(`what step ${step.id} begins with`) };
    }
    return next.next === 'prepare-output'
      ? { type: 'output-unprepared', error: refusal('the output') }
      : driver.prepare(reading, state, facts, next);
  },
});

export const notStorable = (sagaId: string, reason: string): WalkbackError =>
  new WalkbackError('InternalError', `The ledger of saga ${sagaId} does not take this move: ${reason}`);

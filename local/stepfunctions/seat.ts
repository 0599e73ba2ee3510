/**
 * An execution's place among those that move. It has one while the state with which its machine starts is at work, which decides
 * what comes next, and until the call that was decided has begun: soon, and before its deadline, however many executions there
 * are. While a call is at work, or the execution waits, others have the place. The oldest execution goes first.
 */
import type { Places } from '../places.ts';

/** One that is under way waits no longer, or the timeout of its state would pass. */
const LONGEST_WAIT_MS = 20_000;

export type Seat = ReturnType<typeof createSeat>;

export const createSeat = (places: Places, order: number) => {
  let state: 'none' | 'taken' | 'moves without' = 'none';
  let pending: Promise<void> | undefined;
  let over = false;

  const take = (atMostMs?: number): Promise<void> => {
    const wait = atMostMs === undefined ? { order } : { order, atMostMs };
    // An attempt whose state timed out may still stand in line; the next one waits with it.
    pending ??= places.take(wait).then((taken) => {
      pending = undefined;
      if (over && taken) places.leave();
      if (!over) state = taken ? 'taken' : 'moves without';
    });
    return pending;
  };
  const leave = (): void => {
    const was = state;
    state = 'none';
    if (was === 'taken') places.leave();
  };

  return {
    /** Before it begins, for as long as it takes. */
    first: () => take(),
    /** Before each function, of whatever state. */
    beforeCall: async (): Promise<void> => {
      if (state === 'none') await take(LONGEST_WAIT_MS);
    },
    /** It waits, or its call has begun. */
    leave,
    /** The execution has ended. */
    close: (): void => {
      over = true;
      leave();
    },
  };
};

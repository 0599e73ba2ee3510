/**
 * An execution's place among those that move. It has one while the machine's first state, which decides what
 * comes next, is at work, and until the decided call has begun. So calls begin soon and before their
 * deadline, however many executions there are. While a call is at work, or the execution waits, others use
 * the place. The oldest execution goes first.
 */
import type { Places } from '../places.ts';

/** An execution that is under way waits no longer than this; otherwise its state's timeout would pass. */
const LONGEST_WAIT_MS = 20_000;

export type Seat = ReturnType<typeof createSeat>;

export const createSeat = (places: Places, order: number) => {
  let state: 'none' | 'taken' | 'moves without' = 'none';
  let pending: Promise<void> | undefined;
  let over = false;

  const take = (atMostMs?: number): Promise<void> => {
    const wait = atMostMs === undefined ? { order } : { order, atMostMs };
    // An attempt whose state timed out may still be in line. The next attempt waits together with it.
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
    /** Called before the execution begins. Waits as long as it takes. */
    first: () => take(),
    /** Called before each function, in any state. */
    beforeCall: async (): Promise<void> => {
      if (state === 'none') await take(LONGEST_WAIT_MS);
    },
    /** The execution waits, or its call has begun. */
    leave,
    /** The execution has ended. */
    close: (): void => {
      over = true;
      leave();
    },
  };
};

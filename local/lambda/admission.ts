/**
 * How many invocations of one function begin at a time. Functions share our process, so a thousand that begin together would all
 * be slow: time limits pass, requests are repeated, and nothing ends. The rest waits, in order.
 */
import { createPlaces, type Places } from '../places.ts';

/** Of one function. */
const AT_ONCE = 32;

/** What runs for longer mostly waits for something else, and may wait for one that stands in line behind it. */
const HOLDS_MS = 2_000;

/** Callers of this one wait in it for sagas: a line of them would be a line of sagas that ended long ago. */
const UNBOUNDED = /-describe-saga$/;

export const createAdmission = (atOnce = AT_ONCE, holdsMs = HOLDS_MS) => {
  const places = new Map<string, Places>();
  return {
    /** Does the work when it is its turn. */
    inTurn: async <Result>(name: string, work: () => Promise<Result>): Promise<Result> => {
      if (UNBOUNDED.test(name)) return work();
      const line = places.get(name) ?? createPlaces(atOnce);
      places.set(name, line);
      await line.take();
      let holds = true;
      const leave = (): void => {
        if (!holds) return;
        holds = false;
        line.leave();
      };
      const timer = setTimeout(leave, holdsMs).unref();
      try {
        return await work();
      } finally {
        clearTimeout(timer);
        leave();
      }
    },
  };
};

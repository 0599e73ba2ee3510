/**
 * Limits how many invocations of one function begin at a time. Functions share our process, so a thousand
 * that begin together would all be slow: time limits pass, requests are repeated, and nothing ends. The
 * others wait, in order.
 */
import { createPlaces, type Places } from '../places.ts';

/** Invocations of one function that begin at a time. */
const AT_ONCE = 32;

/**
 * An invocation that runs longer than this mostly waits for something, perhaps for one that stands in line
 * behind it. So it gives up its place.
 */
const HOLDS_MS = 2_000;

/**
 * Calls of this function wait for sagas. If they stood in line, they would wait for sagas that ended long
 * ago.
 */
const UNBOUNDED = /-describe-saga$/;

export const createAdmission = (atOnce = AT_ONCE, holdsMs = HOLDS_MS) => {
  const places = new Map<string, Places>();
  return {
    /** Does the work when its turn comes. */
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

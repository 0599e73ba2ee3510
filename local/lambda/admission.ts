/**
 * Limits how many invocations of one function begin at a time. Functions share our process, so a thousand
 * that begin together would all be slow: time limits pass, requests are repeated, and nothing ends. The
 * others wait, in order.
 */
import { availableParallelism } from 'node:os';
import { createPlaces, type Places } from '../places.ts';

/** Invocations of one function that begin at a time. */
const AT_ONCE = 32;

/**
 * These start dozens of processes on this machine. More of them at once would only make each one slower, and
 * a service that has no processor for ten seconds does not answer. They wait for nobody behind them in line,
 * so they keep their place for longer. All of them stand in one line.
 */
const IN_SANDBOXES =
  /-(start-session|checkpoint|rollback|revert|fork-session|merge|rehydrate|end-session|diff|context)$/;
/** One that takes longer may hang, and must not keep the others waiting. */
const SANDBOX_HOLDS_MS = 60_000;
const SANDBOX_LINE = 'sandboxes';
const SANDBOXES_AT_ONCE = Math.min(AT_ONCE, 2 * availableParallelism());

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

export const createAdmission = (
  atOnce = AT_ONCE,
  holdsMs = HOLDS_MS,
  sandboxesAtOnce = SANDBOXES_AT_ONCE,
) => {
  const places = new Map<string, Places>();
  return {
    /** Does the work when its turn comes. */
    inTurn: async <Result>(name: string, work: () => Promise<Result>): Promise<Result> => {
      if (UNBOUNDED.test(name)) return work();
      const isInSandbox = IN_SANDBOXES.test(name);
      const lineName = isInSandbox ? SANDBOX_LINE : name;
      const line = places.get(lineName) ?? createPlaces(isInSandbox ? sandboxesAtOnce : atOnce);
      places.set(lineName, line);
      await line.take();
      let holds = true;
      const leave = (): void => {
        if (!holds) return;
        holds = false;
        line.leave();
      };
      const timer = setTimeout(leave, isInSandbox ? SANDBOX_HOLDS_MS : holdsMs).unref();
      try {
        return await work();
      } finally {
        clearTimeout(timer);
        leave();
      }
    },
  };
};

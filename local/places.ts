/** A bounded number of places, taken in order. */

interface Waiting {
  order: number;
  begin: () => void;
}

export interface Places {
  /**
   * Resolves when there is a place. The smallest `order` goes first, whenever it came. False: it waited for
   * `atMostMs`, and has left the line.
   */
  take(wait?: { order?: number; atMostMs?: number }): Promise<boolean>;
  /** Gives a place back. */
  leave(): void;
}

export const createPlaces = (count: number): Places => {
  let free = count;
  let came = 0;
  /** In the order in which they get a place. */
  const line: Waiting[] = [];
  return {
    take: ({ order = (came += 1), atMostMs } = {}) => {
      if (free > 0) {
        free -= 1;
        return Promise.resolve(true);
      }
      const { promise, resolve } = Promise.withResolvers<boolean>();
      const waiting: Waiting = { order, begin: () => resolve(true) };
      // Most belong at the end.
      line.splice(line.findLastIndex((one) => one.order <= order) + 1, 0, waiting);
      if (atMostMs === undefined) return promise;
      const timer = setTimeout(() => {
        const at = line.indexOf(waiting);
        if (at === -1) return;
        line.splice(at, 1);
        resolve(false);
      }, atMostMs).unref();
      return promise.finally(() => clearTimeout(timer));
    },
    leave: () => {
      const next = line.shift();
      if (next === undefined) free += 1;
      else next.begin();
    },
  };
};

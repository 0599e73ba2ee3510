/**
 * Tells the readers of streams that a table was written to, so that an idle cloud is not asked again and
 * again.
 */

export interface Changes {
  /**
   * Called before the first write by whoever sees every write. Until then changes are not known, and `after`
   * does not wait.
   */
  watched(): void;
  written(): void;
  /** The number of writes so far. */
  count(): number;
  /** Resolves as soon as there were more than `count` writes. */
  after(count: number): Promise<void>;
}

export const createChanges = (): Changes => {
  let isWatched = false;
  let writes = 0;
  let next = Promise.withResolvers<void>();
  return {
    watched: () => {
      isWatched = true;
    },
    written: () => {
      writes += 1;
      next.resolve();
      next = Promise.withResolvers();
    },
    count: () => writes,
    after: (count) => (isWatched && writes <= count ? next.promise : Promise.resolve()),
  };
};

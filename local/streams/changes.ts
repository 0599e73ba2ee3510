/** Tells those who read streams that a table was written to, so that an idle cloud does not ask again and again. */

export interface Changes {
  /** Called by who sees every write, before the first. Until then nobody can tell, and `after` does not wait. */
  watched(): void;
  written(): void;
  /** How many writes there were so far. */
  count(): number;
  /** Resolves as soon as there were more writes than `count`. */
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

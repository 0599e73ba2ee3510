/** Counts what came up, so that a run that has become too tame is seen. */
export const createTally = () => {
  const counts = new Map<string, number>();
  return {
    count: (name: string): void => void counts.set(name, (counts.get(name) ?? 0) + 1),
    of: (name: string): number => counts.get(name) ?? 0,
    counts: () => Object.fromEntries([...counts].toSorted(([one], [other]) => one.localeCompare(other))),
  };
};

export type Tally = ReturnType<typeof createTally>;

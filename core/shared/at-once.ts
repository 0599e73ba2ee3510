/** Acts on every item, at most `limit` of them at once; answers in their order. The first that fails is thrown. */
export const mapAtOnce = async <Item, Result>(
  items: readonly Item[],
  limit: number,
  act: (item: Item) => Promise<Result>,
): Promise<Result[]> => {
  const results: Result[] = [];
  const queue = items.entries();
  const work = async (): Promise<void> => {
    // One iterator for all: each takes the next one that nobody took.
    for (const [at, item] of queue) results[at] = await act(item);
  };
  await Promise.all(Array.from({ length: limit }, work));
  return results;
};

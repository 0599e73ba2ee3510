/**
 * Acts on every item, at most `limit` at a time. Results come in the order of the items. The first error is
 * thrown.
 */
export const mapAtOnce = async <Item, Result>(
  items: readonly Item[],
  limit: number,
  act: (item: Item) => Promise<Result>,
): Promise<Result[]> => {
  const results: Result[] = [];
  const queue = items.entries();
  const work = async (): Promise<void> => {
    // All workers share one iterator, so each takes the next free item.
    for (const [at, item] of queue) results[at] = await act(item);
  };
  await Promise.all(Array.from({ length: limit }, work));
  return results;
};

import type { LocksAnswer } from '../contract/saga-lists.ts';

interface Page<Item> {
  items: readonly Item[];
  cursor?: string | undefined;
}

/** Every item of a list that repeats changed items at its end: each item once, as it was listed last. */
export const allOnce = async <Item>(
  read: (cursor: string | undefined) => Promise<Page<Item>>,
  keyOf: (item: Item) => string,
): Promise<Item[]> => {
  const found = new Map<string, Item>();
  let cursor: string | undefined;
  do {
    const page = await read(cursor);
    for (const item of page.items) found.set(keyOf(item), item);
    ({ cursor } = page);
  } while (cursor !== undefined);
  return [...found.values()];
};

/** Every lock of such a list. */
export const allLocks = (
  read: (cursor: string | undefined) => Promise<LocksAnswer>,
): Promise<LocksAnswer['locks']> =>
  allOnce(
    async (cursor) => {
      const { locks, cursor: next } = await read(cursor);
      return { items: locks, cursor: next };
    },
    ({ sagaId, resourceKey }) => JSON.stringify([sagaId, resourceKey]),
  );

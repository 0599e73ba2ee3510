/**
 * Lambda answers up to 6 MB. Every list ends its page well below that and returns a cursor. This leaves
 * room for a query of 1 MB on top, and for quoting CSV inside JSON.
 */
import { jsonBytes } from './json-bytes.ts';
export const MAX_PAGE_BYTES = 1024 * 1024;

/** A list that grows until it has `limit` items, or as many as one answer holds; the first one always fits. */
export const createPage = <Item>(limit: number) => {
  const items: Item[] = [];
  let sizeBytes = 0;
  const push = (item: Item, itemBytes: number): void => {
    items.push(item);
    sizeBytes += itemBytes;
  };
  return {
    items,
    room: (): number => limit - items.length,
    isFull: (): boolean => items.length >= limit || sizeBytes >= MAX_PAGE_BYTES,
    /** False when it does not fit any more, and was not added. */
    add: (item: Item): boolean => {
      const itemBytes = jsonBytes(item);
      const fits = items.length === 0 || sizeBytes + itemBytes <= MAX_PAGE_BYTES;
      if (items.length >= limit || !fits) return false;
      push(item, itemBytes);
      return true;
    },
    /** Adds the whole result of one query of 1 MB, because its cursor points behind the last item. */
    addAll: (more: readonly Item[]): void => {
      for (const item of more) push(item, jsonBytes(item));
    },
  };
};

export type AnswerPage<Item> = ReturnType<typeof createPage<Item>>;

/**
 * Pages of lists with a filter. A page that the filter leaves short is filled from what follows, because a
 * caller may take a short or empty page for the end.
 */
import type { Clock } from './surroundings.ts';

/**
 * One call reads on for this long, then answers what it has with a cursor. The HTTP API does not wait much
 * longer.
 */
export const PART_MS = 12_000;

interface Page<Item> {
  items: Item[];
  cursor?: string;
}

/** Whether the call that begins now has read for long enough. */
export const partOf = (clock: Pick<Clock, 'now'>): (() => boolean) => {
  const untilMs = clock.now().getTime() + PART_MS;
  return () => clock.now().getTime() >= untilMs;
};

/**
 * Reads on until the page is full, nothing is left, or the time is over. Each item is listed once, so a list
 * that repeats what moves ends its page there: it might repeat it for ever.
 */
export const fillPage = async <Item>(
  { clock, limit, cursor }: { clock: Pick<Clock, 'now'>; limit: number; cursor: string | undefined },
  keyOf: (item: Item) => string,
  read: (room: number, cursor: string | undefined) => Promise<Page<Item>>,
): Promise<Page<Item>> => {
  const isOver = partOf(clock);
  const found = new Map<string, Item>();
  let from = cursor;
  for (;;) {
    const known = found.size;
    const page = await read(limit - known, from);
    for (const item of page.items) found.set(keyOf(item), item);
    from = page.cursor;
    if (from === undefined) return { items: [...found.values()] };
    const isRepeated = page.items.length > 0 && found.size === known;
    if (found.size >= limit || isRepeated || isOver()) return { items: [...found.values()], cursor: from };
  }
};

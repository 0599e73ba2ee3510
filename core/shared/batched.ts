/**
 * Joins the calls of one turn of the event loop into one request, for a service that accepts many things in
 * one request.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';

/** All items of one turn go into one call of `work`. If it fails, each of these calls fails. */
export const batched = <Item>(work: (items: Item[]) => Promise<void>): ((item: Item) => Promise<void>) => {
  let open: { items: Item[]; done: Promise<void> } | undefined;
  const begin = () => {
    const items: Item[] = [];
    const done = nextTurn().then(() => {
      open = undefined;
      return work(items);
    });
    return { items, done };
  };
  return (item) => {
    open ??= begin();
    open.items.push(item);
    return open.done;
  };
};

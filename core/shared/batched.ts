/** Joins calls of one turn of the event loop, where a service takes many things in one request. */
import { setImmediate as nextTurn } from 'node:timers/promises';

/** What is asked for in one turn is one call of `work`. Its failure is that of each of them. */
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

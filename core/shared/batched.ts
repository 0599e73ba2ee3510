/**
 * Joins the calls of one turn of the event loop into one request, for a service that accepts many things in
 * one request.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';

/**
 * All items of one turn go into one call of `work`, and each gets its answer. If it fails, each of these calls
 * fails. `turns`: gathers for so many turns.
 */
export const batched = <Item, Answer = void>(
  work: (items: Item[]) => Promise<Answer>,
  turns = 1,
): ((item: Item) => Promise<Answer>) => {
  let open: { items: Item[]; done: Promise<Answer> } | undefined;
  const begin = () => {
    const items: Item[] = [];
    const run = async (): Promise<Answer> => {
      for (let turn = 0; turn < turns; turn += 1) await nextTurn();
      open = undefined;
      return work(items);
    };
    return { items, done: run() };
  };
  return (item) => {
    open ??= begin();
    open.items.push(item);
    return open.done;
  };
};

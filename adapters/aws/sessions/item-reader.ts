/** Reads items of the Sessions table by their schemas (stored-items.ts). */
import type * as z from 'zod';
import { itemReader } from '../read-item.ts';
import type { Stored } from '../table-reads.ts';

const OF_SESSION = {
  table: 'Sessions',
  error: 'ItemUnreadable',
  advice: () => 'Restore the item from a backup.',
} as const;

/** Makes the value when it is first asked for. */
const once = <T>(make: () => T): (() => T) => {
  let made: { value: T } | undefined;
  return () => (made ??= { value: make() }).value;
};

/**
 * Reads an item as its model, without its key. One call reads items of only a few kinds, so a schema is made
 * with the first item of its kind. `T` may be narrower than the schema where a type of another module is
 * nested in it.
 */
export const reader =
  <T>(make: () => z.ZodType, schema = once(make)) =>
  (item: Stored): T => {
    itemReader(OF_SESSION, (one) => schema().parse(one))(item);
    const { pk: _pk, sk: _sk, format: _format, ...model } = item;
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the schema has seen it
    return model as T;
  };

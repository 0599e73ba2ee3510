/**
 * Reads the ledgers of a saga and of the sagas below it so that they can be compared, although sagas go on
 * meanwhile.
 */
import { mapAtOnce } from '../../shared/at-once.ts';
import type { LedgerEntry } from '../model/ledger-entry.ts';
import { childIds, namedBeyond } from './verify-family.ts';

interface Stored {
  entries: readonly LedgerEntry[];
}

/**
 * `read` answers undefined for a saga that was named and does not exist yet. When another ledger names an
 * entry beyond the end of one that was read, that one is read again. If it has not grown then, its tail is
 * gone.
 */
export const readFamily = async <One extends Stored>(
  sagaId: string,
  read: (sagaId: string) => Promise<One | undefined>,
  atOnce: number,
): Promise<Map<string, One>> => {
  const family = new Map<string, One>();
  for (let open = [sagaId]; open.length > 0; ) {
    const seen = await mapAtOnce(open, atOnce, async (id) => [id, await read(id)] as const);
    let isMore = false;
    for (const [id, one] of seen) {
      if (one === undefined || one.entries.length <= (family.get(id)?.entries.length ?? -1)) continue;
      family.set(id, one);
      isMore = true;
    }
    const ledgers = new Map([...family].map(([id, { entries }]) => [id, entries]));
    const unread = [...ledgers.values()].flatMap(childIds).filter((id) => !family.has(id));
    open = isMore ? [...new Set([...unread, ...namedBeyond(ledgers)])] : [];
  }
  return family;
};

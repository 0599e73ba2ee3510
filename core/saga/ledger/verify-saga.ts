/**
 * Checks that a saga is as it was written: its entries by their chain, and everything else by the entries.
 * Pure.
 */

import { differingHeadFields } from '../entries/check-head.ts';
import { describeBreak, findChainBreak } from '../entries/hash-chain.ts';
import type { SagaHead } from '../model/head.ts';
import type { LedgerEntry } from '../model/ledger-entry.ts';
import type { Finding } from './audit.ts';

export interface StoredSaga {
  sagaId: string;
  head: SagaHead | null;
  /** All entries, in the order of their places. */
  entries: readonly LedgerEntry[];
  /** Problems that single items show by themselves (audit.ts). */
  findings: readonly Finding[];
}

/** Everything that is not as it was written. Empty when all is well. */
export const verifySaga = ({ sagaId, head, entries, findings }: StoredSaga): Finding[] => {
  const found = [...findings];
  const add = (where: string, message: string) => found.push({ sagaId, where, message });
  if (head === null) add('head', 'is gone, or cannot be read');
  const broken = findChainBreak(entries, head ?? undefined);
  if (broken !== undefined) {
    // The head cannot be judged by a ledger that is itself damaged.
    add(`entry ${broken.seq}`, describeBreak(broken));
    return found;
  }
  const differing = head === null ? [] : differingHeadFields(head, entries);
  if (differing.includes('unfoldable')) add('ledger', 'no saga can have gone like this: it does not fold');
  else if (differing.length > 0) add('head', `${differing.join(', ')}: not what the ledger says`);
  return found;
};

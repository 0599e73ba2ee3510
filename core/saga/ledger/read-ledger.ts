/** Reading a whole ledger without what only calls of tools need: 500 steps with the largest results are 32 MB of them. */
import type { LedgerEntry } from '../model.ts';
import type { SagaStore } from '../ports.ts';

const MAX_PAGE = 1000;

const slim = (entry: LedgerEntry): LedgerEntry => {
  if (entry.direction === 'forward' && entry.status === 'started') {
    const { arguments: _, ...rest } = entry;
    return rest;
  }
  return 'result' in entry ? { ...entry, result: null } : entry;
};

/** Oldest first, up to `end`; arguments and results are left out, so the hashes of these entries say nothing. */
export const readLedger = async (
  store: Pick<SagaStore, 'pageEntries'>,
  sagaId: string,
  end = Number.POSITIVE_INFINITY,
): Promise<LedgerEntry[]> => {
  const entries: LedgerEntry[] = [];
  let from: number | undefined = 0;
  while (from !== undefined && from < end) {
    const page: { items: LedgerEntry[]; next?: number } = await store.pageEntries(sagaId, from, MAX_PAGE);
    entries.push(...page.items.map(slim));
    from = page.next;
  }
  return entries.filter(({ seq }) => seq < end);
};

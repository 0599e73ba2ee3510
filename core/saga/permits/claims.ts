import type { SagaHead } from '../model/head.ts';
import type { LedgerEntry } from '../model/ledger-entry.ts';
import type { Claim } from '../model/permit.ts';

/** The permits and tickets that these entries say were taken. The store writes them in the same transaction. */
export const claimsOf = (
  head: Pick<SagaHead, 'sagaId' | 'createdAt' | 'project' | 'root'>,
  entries: readonly LedgerEntry[],
): Claim[] => {
  const holder = head.root ?? head.sagaId;
  const ticket = (semaphore: string, startedAt: string, seq: number): Claim => ({
    claim: 'ticket',
    ticket: { semaphore, root: { sagaId: holder, startedAt }, sagaId: head.sagaId, seq },
  });
  return entries.flatMap((entry): Claim[] => {
    if (entry.direction === 'lock' && entry.status === 'waiting') {
      return entry.semaphores.map((semaphore) => ticket(semaphore, entry.since, entry.seq));
    }
    if (entry.direction === 'slot' && entry.status === 'queued') {
      return [ticket(entry.semaphore, head.createdAt, entry.seq)];
    }
    const isTaken = (entry.direction === 'lock' || entry.direction === 'slot') && entry.status === 'taken';
    if (!isTaken) return [];
    const { semaphore, fencingToken } = entry;
    const place =
      entry.direction === 'lock'
        ? { number: 0, label: entry.resourceKey }
        : { number: entry.number, label: head.project ?? '' };
    const permit = { semaphore, holder, fencingToken, since: entry.at, ...place };
    return [{ claim: 'permit', permit }];
  });
};

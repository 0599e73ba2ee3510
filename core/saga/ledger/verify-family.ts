/**
 * Checks that the ledgers of parent and child name each other as they are: what each says of the other is a hash in the
 * other's chain. Pure.
 */
import type { EntryLink } from '../model/children.ts';
import type { LedgerEntry } from '../model/ledger-entry.ts';
import type { Finding } from './audit.ts';

/** Ids of the sagas that a ledger runs as steps, and that were there. */
export const childIds = (entries: readonly LedgerEntry[]): string[] => {
  const refused = new Set(
    entries.flatMap((entry) =>
      entry.direction === 'child' && entry.status === 'ended' && entry.child.status === 'REFUSED'
        ? [entry.child.sagaId]
        : [],
    ),
  );
  return entries
    .flatMap((entry) =>
      entry.direction === 'forward' && entry.status === 'started' ? (entry.children ?? []) : [],
    )
    .map(({ sagaId }) => sagaId)
    .filter((sagaId) => !refused.has(sagaId));
};

type Ledgers = ReadonlyMap<string, readonly LedgerEntry[]>;

const linksIn = (entry: LedgerEntry): EntryLink[] => {
  if (entry.direction === 'saga' && entry.status === 'sealed') return [entry.root];
  return 'parent' in entry && entry.parent !== undefined ? [entry.parent] : [];
};

const missesLink = (ledgers: Ledgers, { sagaId, seq, hash }: EntryLink): boolean => {
  const ledger = ledgers.get(sagaId);
  // Of a child that is verified alone, the ledgers above are not read.
  return ledger !== undefined && ledger.find((entry) => entry.seq === seq)?.hash !== hash;
};

/** What is not as it was written, in all ledgers of a tree. */
export const verifyFamily = (ledgers: Ledgers): Finding[] => {
  const findings: Finding[] = [];
  for (const [sagaId, entries] of ledgers) {
    for (const entry of entries) {
      const add = (message: string) => findings.push({ sagaId, where: `entry ${entry.seq}`, message });
      for (const link of linksIn(entry)) {
        if (missesLink(ledgers, link))
          add(`entry ${link.seq} of saga ${link.sagaId} is not the one that it names`);
      }
      if (entry.direction !== 'child' || !('child' in entry) || entry.child.status === 'REFUSED') continue;
      const { sagaId: child, seq, tip } = entry.child;
      const ledger = ledgers.get(child);
      if (ledger === undefined) add(`saga ${child}, of which it names the end, is gone`);
      else if (ledger.find((one) => one.seq === seq - 1)?.hash !== tip) {
        add(`entry ${seq - 1} of saga ${child} is not the one that it names`);
      }
    }
  }
  return findings;
};

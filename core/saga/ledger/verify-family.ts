/**
 * Checks that the ledgers of parent and child name each other as they are: what each says of the other is a hash in the
 * other's chain. Pure.
 */
import type { EntryLink, NamedChild } from '../model/children.ts';
import type { LedgerEntry } from '../model/ledger-entry.ts';
import { hashJson } from '../plan/json.ts';
import type { Finding } from './audit.ts';

interface Named {
  child: NamedChild;
  by: LedgerEntry;
}

/** The sagas that a ledger runs as steps, and that were there, each with the entry that names it. */
const namedIn = (entries: readonly LedgerEntry[]): Named[] => {
  const refused = new Set(
    entries.flatMap((entry) =>
      entry.direction === 'child' && entry.status === 'ended' && entry.child.status === 'REFUSED'
        ? [entry.child.sagaId]
        : [],
    ),
  );
  return entries
    .flatMap((by) =>
      by.direction === 'forward' && by.status === 'started'
        ? (by.children ?? []).map((child) => ({ child, by }))
        : [],
    )
    .filter(({ child }) => !refused.has(child.sagaId));
};

/** Ids of the sagas that a ledger runs as steps, and that were there. */
export const childIds = (entries: readonly LedgerEntry[]): string[] =>
  namedIn(entries).map(({ child }) => child.sagaId);

/** What the first entry of a child says otherwise than the entry of its parent that names it. A chain of its own would hold. */
const differsFrom = ({ child, by }: Named, first: LedgerEntry): string[] => {
  if (first.direction !== 'saga' || first.status !== 'started') return ['its beginning'];
  const { parent } = first;
  const isLinked =
    parent !== undefined && parent.sagaId === by.sagaId && parent.seq === by.seq && parent.hash === by.hash;
  return [
    ...(isLinked ? [] : ['parent']),
    ...(['planHash', 'inputHash', 'stepCount', 'definition'] as const).filter(
      (name) => first[name] !== child[name],
    ),
    ...(hashJson({ ...first.interactive }) === hashJson({ ...child.interactive }) ? [] : ['interactive']),
  ];
};

type Ledgers = ReadonlyMap<string, readonly LedgerEntry[]>;

const linksIn = (entry: LedgerEntry): EntryLink[] => {
  if (entry.direction === 'saga' && entry.status === 'sealed') return [entry.root];
  return 'parent' in entry && entry.parent !== undefined ? [entry.parent] : [];
};

/** What an entry names in other ledgers: entries there, and the last one of a child that ended. */
const placesIn = (entry: LedgerEntry): Pick<EntryLink, 'sagaId' | 'seq'>[] =>
  entry.direction === 'child' && 'child' in entry && entry.child.status !== 'REFUSED'
    ? [{ sagaId: entry.child.sagaId, seq: entry.child.seq - 1 }]
    : linksIn(entry);

/** The sagas whose ledgers end before an entry that another one names. */
export const namedBeyond = (ledgers: Ledgers): string[] => {
  const lastOf = new Map([...ledgers].map(([sagaId, entries]) => [sagaId, entries.at(-1)?.seq ?? -1]));
  const named = [...ledgers.values()].flat().flatMap(placesIn);
  return named.flatMap(({ sagaId, seq }) => (seq > (lastOf.get(sagaId) ?? seq) ? [sagaId] : []));
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
    for (const named of namedIn(entries)) {
      const first = ledgers.get(named.child.sagaId)?.[0];
      const differing = first === undefined ? [] : differsFrom(named, first);
      if (differing.length === 0) continue;
      const message = `${differing.join(', ')}: not what entry ${named.by.seq} of saga ${sagaId} named`;
      findings.push({ sagaId: named.child.sagaId, where: 'entry 0', message });
    }
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

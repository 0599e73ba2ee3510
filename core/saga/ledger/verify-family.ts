/**
 * Checks that the ledgers of parent and child agree about each other: each names entries of the other by
 * their hashes. Pure.
 */

import { hashJson } from '../../shared/canonical-json.ts';
import type { EntryLink, NamedChild } from '../model/children.ts';
import type { LedgerEntry } from '../model/ledger-entry.ts';
import type { Finding } from './audit.ts';

interface Named {
  child: NamedChild;
  by: LedgerEntry;
}

/** The sagas that a ledger runs as steps and that existed, each with the entry that names it. */
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

/** Ids of the sagas that a ledger runs as steps and that existed. */
export const childIds = (entries: readonly LedgerEntry[]): string[] =>
  namedIn(entries).map(({ child }) => child.sagaId);

/**
 * Where the first entry of a child differs from the parent's entry that names the child. The child's own
 * chain could be valid all the same.
 */
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

/** The entries of other ledgers that an entry names, including the last one of a child that ended. */
const placesIn = (entry: LedgerEntry): Pick<EntryLink, 'sagaId' | 'seq'>[] =>
  entry.direction === 'child' && 'child' in entry && entry.child.status !== 'REFUSED'
    ? [{ sagaId: entry.child.sagaId, seq: entry.child.seq - 1 }]
    : linksIn(entry);

/** The sagas whose ledgers end before an entry that another ledger names. */
export const namedBeyond = (ledgers: Ledgers): string[] => {
  const lastOf = new Map([...ledgers].map(([sagaId, entries]) => [sagaId, entries.at(-1)?.seq ?? -1]));
  const named = [...ledgers.values()].flat().flatMap(placesIn);
  return named.flatMap(({ sagaId, seq }) => (seq > (lastOf.get(sagaId) ?? seq) ? [sagaId] : []));
};

const missesLink = (ledgers: Ledgers, { sagaId, seq, hash }: EntryLink): boolean => {
  const ledger = ledgers.get(sagaId);
  // When a child is verified alone, the ledgers above it are not read.
  return ledger !== undefined && ledger.find((entry) => entry.seq === seq)?.hash !== hash;
};

/** Everything in the ledgers of a tree that is not as it was written. */
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

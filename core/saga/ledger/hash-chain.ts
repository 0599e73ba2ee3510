import type { Fact, LedgerEntry } from '../model.ts';
import { hashJson } from '../plan/json.ts';

/** What the first entry of every saga names as its predecessor. */
export const GENESIS_HASH = '0'.repeat(64);

export interface ChainTip {
  seq: number;
  tip: string;
}

const entryHash = (entry: Omit<LedgerEntry, 'hash'>): string => hashJson({ ...entry, hash: undefined });

/** Puts facts in their place: every entry names the hash of the one before it (S10). */
export const chain = (
  sagaId: string,
  from: ChainTip,
  facts: readonly Fact[],
  stamp: { at: string; actor: string },
): { entries: LedgerEntry[]; tip: ChainTip } => {
  const entries: LedgerEntry[] = [];
  let { seq, tip } = from;
  for (const fact of facts) {
    const body = { ...fact, sagaId, seq, at: stamp.at, actor: stamp.actor, prevHash: tip };
    const entry: LedgerEntry = { ...body, hash: entryHash(body) };
    entries.push(entry);
    seq += 1;
    tip = entry.hash;
  }
  return { entries, tip: { seq, tip } };
};

export interface ChainBreak {
  seq: number;
  reason: 'missing' | 'altered' | 'unlinked';
}

/** The first place where the ledger of a saga is not what was written, or undefined. Entries oldest first. */
export const findChainBreak = (entries: readonly LedgerEntry[], tip?: ChainTip): ChainBreak | undefined => {
  let previous = GENESIS_HASH;
  for (const [position, entry] of entries.entries()) {
    if (entry.seq !== position) return { seq: position, reason: 'missing' };
    if (entry.prevHash !== previous) return { seq: entry.seq, reason: 'unlinked' };
    if (entryHash(entry) !== entry.hash) return { seq: entry.seq, reason: 'altered' };
    previous = entry.hash;
  }
  if (tip !== undefined && (tip.seq !== entries.length || tip.tip !== previous)) {
    return { seq: entries.length, reason: 'missing' };
  }
  return undefined;
};

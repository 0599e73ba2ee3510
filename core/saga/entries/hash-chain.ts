/** The hash chain of a ledger: builds it and checks it (S10). Pure. */
import { type Actor, nameOf, personOf } from '../../../contract/identity.ts';
import { hashJson } from '../../shared/canonical-json.ts';
import type { Fact, LedgerEntry } from '../model/ledger-entry.ts';

/** The first entry of every saga names this as its predecessor. */
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
  stamp: { at: string; actor: Actor },
): { entries: LedgerEntry[]; tip: ChainTip } => {
  const entries: LedgerEntry[] = [];
  let { seq, tip } = from;
  const person = personOf(stamp.actor);
  const by = { actor: nameOf(stamp.actor), ...(person === undefined ? {} : { person }) };
  for (const fact of facts) {
    const body = { ...fact, sagaId, seq, at: stamp.at, ...by, prevHash: tip };
    const entry: LedgerEntry = { ...body, hash: entryHash(body) };
    entries.push(entry);
    seq += 1;
    tip = entry.hash;
  }
  return { entries, tip: { seq, tip } };
};

export interface ChainBreak {
  seq: number;
  /** `extra`: an entry that was never written there: before the first one, twice, or without a place. */
  reason: 'missing' | 'altered' | 'unlinked' | 'extra';
}

const breakAt = (entry: LedgerEntry, position: number, previous: string): ChainBreak | undefined => {
  if (!Number.isInteger(entry.seq) || entry.seq < position) return { seq: position, reason: 'extra' };
  if (entry.seq > position) return { seq: position, reason: 'missing' };
  if (entry.prevHash !== previous) return { seq: entry.seq, reason: 'unlinked' };
  return entryHash(entry) === entry.hash ? undefined : { seq: entry.seq, reason: 'altered' };
};

/** Checks entries as they are read, oldest first. Nothing needs to be kept to verify the chain. */
export const createChainCheck = () => {
  let position = 0;
  let previous = GENESIS_HASH;
  let broken: ChainBreak | undefined;
  return {
    add: (entry: LedgerEntry): void => {
      broken ??= breakAt(entry, position, previous);
      position += 1;
      previous = entry.hash;
    },
    /** The first place where the ledger is not as it was written, or undefined. */
    end: (tip?: ChainTip): ChainBreak | undefined => {
      if (broken !== undefined || tip === undefined) return broken;
      if (tip.seq < position) return { seq: tip.seq, reason: 'extra' };
      return tip.seq > position || tip.tip !== previous ? { seq: position, reason: 'missing' } : undefined;
    },
  };
};

/** The same check for entries that are already in memory. */
export const findChainBreak = (entries: readonly LedgerEntry[], tip?: ChainTip): ChainBreak | undefined => {
  const check = createChainCheck();
  for (const entry of entries) check.add(entry);
  return check.end(tip);
};

const BREAKS: Record<ChainBreak['reason'], string> = {
  missing: 'an entry is missing',
  altered: 'the entry was altered after it was written',
  unlinked: 'the entry does not follow the one before it',
  extra: 'an entry is there that was never written',
};

/** A text for people. */
export const describeBreak = ({ reason }: ChainBreak): string => BREAKS[reason];

/**
 * Checks that the ledger of a saga is the one that was anchored. The digests must have been checked before
 * (check-digests.ts). Pure.
 */
import type { LedgerEntry } from '../model/ledger-entry.ts';
import type { Digest } from './anchor.ts';
import type { Finding } from './audit.ts';
import { isOutcome } from './ledger-row.ts';

interface Named {
  name: string;
  digest: Digest;
}

export interface Anchoring {
  findings: Finding[];
  /** The last entry that a digest holds; null when none does yet. */
  anchored: number | null;
}

/** The last outcome of the ledger within the stretch of a digest. */
const lastWithin = (entries: readonly LedgerEntry[], { from, until }: Digest): LedgerEntry | undefined =>
  entries.findLast((entry) => isOutcome(entry) && entry.at >= from && entry.at < until);

/** `entries`: the whole ledger, oldest first. */
export const checkAnchors = (
  sagaId: string,
  entries: readonly LedgerEntry[],
  digests: readonly Named[],
): Anchoring => {
  const findings: Finding[] = [];
  const bySeq = new Map(entries.map((entry) => [entry.seq, entry]));
  let anchored: number | null = null;
  const add = (seq: number, message: string) => findings.push({ sagaId, where: `entry ${seq}`, message });
  for (const { name, digest } of digests) {
    const tip = digest.tips[sagaId];
    const mine = lastWithin(entries, digest);
    if (mine !== undefined && (tip === undefined || tip.seq < mine.seq)) {
      add(mine.seq, `is of a time that digest ${name} covers, and was not there then`);
    }
    if (tip === undefined) continue;
    const entry = bySeq.get(tip.seq);
    if (entry === undefined) add(tip.seq, `was anchored in digest ${name}, and is gone`);
    else if (entry.hash !== tip.hash) add(tip.seq, `is not the one that was anchored in digest ${name}`);
    else anchored = Math.max(anchored ?? 0, tip.seq);
  }
  return { findings, anchored };
};

/**
 * The reads that verification needs: everything stored of a saga, and the attributes that differ from what
 * was written.
 */
import type { SagaHead } from '../model/head.ts';
import type { LedgerEntry } from '../model/ledger-entry.ts';
import type { Page } from '../ports.ts';

/** Something that differs from what was written. */
export interface Finding {
  sagaId: string;
  /** `entry 3`, `head`, `pinned`, `anchor 17`. */
  where: string;
  /** The problem, described for people. */
  message: string;
}

export interface AuditedEntry {
  sagaId: string;
  /** Its sort key: eight digits, unless someone else wrote it there. */
  place: string;
  /** Undefined when it cannot be read as an entry. */
  entry?: LedgerEntry;
  /** Attributes that differ from what the entry says, or that no entry has. */
  wrong: string[];
}

export interface LedgerAudit {
  /**
   * When nothing is stored, `head` is undefined and `wrong` is empty. A head that cannot be read gives only
   * `wrong`.
   */
  head(sagaId: string): Promise<{ head?: SagaHead; wrong: string[] }>;
  /** Differences between the pinned parts and the hashes in the head, in words. */
  pins(head: SagaHead): Promise<string[]>;
  /**
   * Everything in the saga's partition after a sort key, in order, including what lies before the first
   * entry.
   */
  entries(sagaId: string, after: string, limit: number): Promise<{ items: AuditedEntry[]; hasMore: boolean }>;
  /** Whether anything is at that sort key of the saga's partition. */
  has(sagaId: string, place: string): Promise<boolean>;
  /** The entries of a day, as the index by day has them. */
  day(day: string, limit: number, cursor?: string): Promise<Page<AuditedEntry>>;
}

/** Eight digits. Any other text is not the place of an entry. */
const nameOf = (place: string): string =>
  /^\d{8}$/.test(place) ? `entry ${Number(place)}` : `entry at ${place}`;

export const findingsOf = ({ sagaId, place, entry, wrong }: AuditedEntry): Finding[] => {
  if (entry === undefined) return [{ sagaId, where: nameOf(place), message: 'cannot be read as an entry' }];
  if (wrong.length === 0) return [];
  return [{ sagaId, where: nameOf(place), message: `${wrong.join(', ')}: not what the entry says` }];
};

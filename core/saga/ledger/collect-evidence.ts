/**
 * Collects the stored data of a saga, or of a day, for verification: the entries as they are, and the
 * differences from what was written.
 */
import type { LedgerRow } from '../../../contract/ledger-query.ts';
import type { AnswerPage } from '../../shared/answer-size.ts';
import { requireGiven } from '../../shared/cursor.ts';
import { WalkbackError } from '../../shared/errors.ts';
import type { SagaHead } from '../model/head.ts';
import { type AuditedEntry, type Finding, findingsOf, type LedgerAudit } from './audit.ts';
import { toRow } from './ledger-row.ts';

export interface Evidence {
  /** Comes with the last page of a saga: its head, read after its entries. Null when it is gone. */
  head?: SagaHead | null;
  /** Differences from what was written, as far as a single item shows them. */
  findings: Finding[];
}

type Rows = AnswerPage<LedgerRow>;
interface Collected {
  cursor?: string;
  tip?: { seq: number; hash: string };
  evidence: Evidence;
}

/** Adds as many entries as fit. Answers the last place added, and whether all were. */
const addEntries = (rows: Rows, items: readonly AuditedEntry[], findings: Finding[]) => {
  let last: string | undefined;
  for (const item of items) {
    if (item.entry !== undefined && !rows.add(toRow(item.entry))) return { last, whole: false };
    findings.push(...findingsOf(item));
    last = item.place;
  }
  return { last, whole: true };
};

/** Head and pinned parts, read after the entries. So even if the saga moves, no entry lies past the head. */
const addHead = async (audit: LedgerAudit, sagaId: string, findings: Finding[]): Promise<SagaHead | null> => {
  const { head, wrong } = await audit.head(sagaId);
  if (wrong.length > 0) {
    findings.push({
      sagaId,
      where: 'head',
      message: `${wrong.join(', ')}: not what a head of this saga has`,
    });
  }
  if (head === undefined) return null;
  const pinned = (await audit.pins(head)).map((message) => ({ sagaId, where: 'pinned', message }));
  findings.push(...pinned);
  return head;
};

/** The cursor is the sort key of the last entry answered. */
export const evidenceOfSaga = async (
  audit: LedgerAudit,
  rows: Rows,
  sagaId: string,
  cursor: string | undefined,
): Promise<Collected> => {
  if (cursor !== undefined) requireGiven(cursor !== '' && (await audit.has(sagaId, cursor)));
  const findings: Finding[] = [];
  let place = cursor ?? '';
  for (;;) {
    if (rows.isFull()) return { cursor: place, evidence: { findings } };
    const page = await audit.entries(sagaId, place, rows.room());
    const { last = place, whole } = addEntries(rows, page.items, findings);
    place = last;
    if (!whole) return { cursor: place, evidence: { findings } };
    if (page.hasMore) continue;
    // If the saga moved meanwhile, its newer entries exist. If none come, they are gone.
    const { head } = await audit.head(sagaId);
    if (page.items.length === 0 || head === undefined || Number(place) + 1 >= head.seq) break;
  }
  const head = await addHead(audit, sagaId, findings);
  if (head === null && place === '' && findings.length === 0) {
    throw new WalkbackError('SagaNotFound', `There is no saga ${sagaId}.`);
  }
  return {
    ...(head === null ? {} : { tip: { seq: head.seq, hash: head.tip } }),
    evidence: { head, findings },
  };
};

/** Also finds items that imitate an entry of the day, because no other read does. */
export const evidenceOfDay = async (
  audit: LedgerAudit,
  rows: Rows,
  day: string,
  cursor?: string,
): Promise<Collected> => {
  const page = await audit.day(day, rows.room(), cursor);
  rows.addAll(page.items.flatMap(({ entry }) => (entry === undefined ? [] : [toRow(entry)])));
  return {
    ...(page.cursor === undefined ? {} : { cursor: page.cursor }),
    evidence: { findings: page.items.flatMap(findingsOf) },
  };
};

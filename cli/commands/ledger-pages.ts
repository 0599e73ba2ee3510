/** Every page of a ledger query, as one answer. */
import type { LedgerEffect, LedgerTotals } from '../../contract/ledger-answers.ts';
import type { LedgerAnswer, LedgerRow } from '../../contract/saga-answers.ts';
import type { QueryLedgerInput } from '../../contract/saga-inputs.ts';
import { createTotals } from '../../core/saga/ledger/totals.ts';
import type { Run } from '../app.ts';

const PAGE = 500;

/** `cursor`: the function goes on there; absent when these are all. */
interface ReadRows<Row> {
  rows: Row[];
  cursor?: string;
}

/** Asks until a row is there or the end: a page may be empty and have a cursor. */
const hasMore = async (
  run: Run,
  query: QueryLedgerInput,
  rowsOf: (answer: LedgerAnswer) => readonly unknown[] | undefined,
  from: string,
): Promise<boolean> => {
  let cursor: string | undefined = from;
  while (cursor !== undefined) {
    const answer: LedgerAnswer = await run.invoke('walkback-query-ledger', { ...query, limit: 1, cursor });
    if ((rowsOf(answer) ?? []).length > 0) return true;
    ({ cursor } = answer);
  }
  return false;
};

const pagesOf = async <Row>(
  run: Run,
  query: QueryLedgerInput,
  rowsOf: (answer: LedgerAnswer) => readonly Row[] | undefined,
  limit = Number.POSITIVE_INFINITY,
): Promise<ReadRows<Row>> => {
  const rows: Row[] = [];
  let cursor: string | undefined;
  do {
    const answer = await run.invoke('walkback-query-ledger', {
      ...query,
      limit: Math.min(PAGE, limit - rows.length),
      ...(cursor === undefined ? {} : { cursor }),
    });
    rows.push(...(rowsOf(answer) ?? []));
    ({ cursor } = answer);
  } while (cursor !== undefined && rows.length < limit);
  return cursor !== undefined && (await hasMore(run, query, rowsOf, cursor)) ? { rows, cursor } : { rows };
};

/** Up to `limit`, oldest first. */
export const readEntries = (
  run: Run,
  query: QueryLedgerInput,
  limit?: number,
): Promise<ReadRows<LedgerRow>> => pagesOf(run, query, ({ entries }) => entries, limit);

export const readEffects = (
  run: Run,
  query: QueryLedgerInput,
  limit?: number,
): Promise<ReadRows<LedgerEffect>> =>
  pagesOf(run, { ...query, view: 'effects' }, ({ effects }) => effects, limit);

/** The sums of all pages. */
export const readTotals = async (run: Run, query: QueryLedgerInput): Promise<LedgerTotals> => {
  const totals = createTotals();
  let cursor: string | undefined;
  do {
    const answer = await run.invoke('walkback-query-ledger', {
      ...query,
      view: 'totals',
      ...(cursor === undefined ? {} : { cursor }),
    });
    if (answer.totals !== undefined) totals.addTotals(answer.totals);
    cursor = answer.cursor;
  } while (cursor !== undefined);
  return totals.end();
};

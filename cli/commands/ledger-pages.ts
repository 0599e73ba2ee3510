/** Every page of a ledger query, as one answer. */
import type { LedgerEffect, LedgerTotals } from '../../contract/ledger-answers.ts';
import type { LedgerAnswer, LedgerRow } from '../../contract/saga-answers.ts';
import type { QueryLedgerInput } from '../../contract/saga-inputs.ts';
import { createTotals } from '../../core/saga/ledger/totals.ts';
import type { Run } from '../app.ts';

const PAGE = 500;

const pagesOf = async <Row>(
  run: Run,
  query: QueryLedgerInput,
  rowsOf: (answer: LedgerAnswer) => readonly Row[] | undefined,
  limit = Number.POSITIVE_INFINITY,
): Promise<Row[]> => {
  const rows: Row[] = [];
  let cursor: string | undefined;
  do {
    const answer = await run.invoke('walkback-query-ledger', {
      ...query,
      limit: Math.min(PAGE, limit - rows.length),
      ...(cursor === undefined ? {} : { cursor }),
    });
    rows.push(...(rowsOf(answer) ?? []));
    cursor = answer.cursor;
  } while (cursor !== undefined && rows.length < limit);
  return rows.slice(0, limit);
};

/** Up to `limit`, oldest first. */
export const readEntries = (run: Run, query: QueryLedgerInput, limit?: number): Promise<LedgerRow[]> =>
  pagesOf(run, query, ({ entries }) => entries, limit);

export const readEffects = (run: Run, query: QueryLedgerInput, limit?: number): Promise<LedgerEffect[]> =>
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

/** Reads all pages of a ledger query as one answer. */
import type { LedgerEffect, LedgerTotals } from '../../contract/ledger-answers.ts';
import type { LedgerAnswer, LedgerRow } from '../../contract/ledger-query.ts';
import type { QueryLedgerInput } from '../../contract/saga-inputs.ts';
import { createTotals } from '../../core/saga/ledger/totals.ts';
import type { Run } from '../app.ts';

const PAGE = 500;

/** `cursor`: where the function continues; absent when these are all rows. */
interface ReadRows<Row> {
  rows: Row[];
  cursor?: string;
}

/** Reads until there is a row or the end: a page may be empty and still have a cursor. */
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

/** Reads up to `limit` entries, oldest first. */
export const readEntries = (
  run: Run,
  query: QueryLedgerInput,
  limit?: number,
): Promise<ReadRows<LedgerRow>> => pagesOf(run, query, ({ entries }) => entries, limit);

/** For one saga: its effects or sums, and the sagas that it runs as steps, whose effects are not included. */
interface Below {
  below: readonly string[];
}

const effectsOf = async (
  run: Run,
  query: QueryLedgerInput,
  limit?: number,
): Promise<ReadRows<LedgerEffect> & Below> => {
  let below: readonly string[] = [];
  const read = await pagesOf(
    run,
    { ...query, view: 'effects' },
    (answer) => {
      below = answer.below ?? below;
      return answer.effects;
    },
    limit,
  );
  return { ...read, below };
};

/** The sagas `sagaIds` and those below them, each once. */
const eachBelow = async (
  sagaIds: readonly string[],
  read: (sagaId: string) => Promise<Below | undefined>,
): Promise<void> => {
  const found = new Set(sagaIds);
  for (const sagaId of found) {
    const seen = await read(sagaId);
    if (seen === undefined) return;
    for (const one of seen.below) found.add(one);
  }
};

/** `isDeep`: includes the sagas below the requested one, saga after saga. */
export const readEffects = async (
  run: Run,
  query: QueryLedgerInput,
  { limit = Number.POSITIVE_INFINITY, isDeep = false }: { limit?: number | undefined; isDeep?: boolean } = {},
): Promise<ReadRows<LedgerEffect> & Below & { isCut: boolean }> => {
  const read = await effectsOf(run, query, limit);
  if (!isDeep || read.cursor !== undefined) return { ...read, isCut: read.cursor !== undefined };
  const rows = [...read.rows];
  let isCut = false;
  await eachBelow(read.below, async (sagaId) => {
    // One more than fits, to know whether there are more.
    const child = await effectsOf(run, { ...query, sagaId }, limit - rows.length + 1);
    rows.push(...child.rows);
    isCut = rows.length > limit;
    return isCut ? undefined : child;
  });
  return { rows: rows.slice(0, limit), below: [], isCut };
};

/** The sums of all pages. `isDeep`: includes the sagas below the requested one. */
export const readTotals = async (
  run: Run,
  query: QueryLedgerInput,
  isDeep = false,
): Promise<{ totals: LedgerTotals } & Below> => {
  const totals = createTotals();
  const addOf = async (sagaId?: string): Promise<Below> => {
    let cursor: string | undefined;
    let below: readonly string[] = [];
    do {
      const answer = await run.invoke('walkback-query-ledger', {
        ...query,
        view: 'totals',
        ...(sagaId === undefined ? {} : { sagaId }),
        ...(cursor === undefined ? {} : { cursor }),
      });
      if (answer.totals !== undefined) totals.addTotals(answer.totals);
      below = answer.below ?? below;
      cursor = answer.cursor;
    } while (cursor !== undefined);
    return { below };
  };
  const { below } = await addOf();
  if (isDeep) await eachBelow(below, addOf);
  return { totals: totals.end(), below: isDeep ? [] : below };
};

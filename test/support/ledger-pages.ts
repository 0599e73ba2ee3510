import type { LedgerRow } from '../../contract/ledger-query.ts';
import type { TestCloud } from './cloud.ts';

/** The pages of a query, up to so many rows, and the size of the largest answer. */
export const ledgerPages = async (
  cloud: Pick<TestCloud, 'invoke'>,
  query: object,
  enough = Number.POSITIVE_INFINITY,
) => {
  const rows: LedgerRow[] = [];
  let largestBytes = 0;
  let tip: { seq: number; hash: string } | undefined;
  let cursor: unknown;
  do {
    const page = await cloud.invoke('query-ledger', {
      ...query,
      limit: 1000,
      ...(cursor === undefined ? {} : { cursor }),
    });
    largestBytes = Math.max(largestBytes, Buffer.byteLength(JSON.stringify(page)));
    rows.push(...(page['entries'] as LedgerRow[]));
    tip = page['tip'] as typeof tip;
    ({ cursor } = page);
  } while (cursor !== undefined && rows.length < enough);
  return { rows, tip, largestBytes };
};

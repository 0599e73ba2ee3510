/** The queries with which finance begins, stored in the workgroup. docs/operations.md shows them. */
import { AMOUNT_DIRECTIONS } from '../../contract/amount-direction.ts';

/** Exact: amounts have up to 24 digits before the point and 12 after it, and this leaves room for their sums. */
const decimal = (column: string): string => `CAST(${column} AS DECIMAL(38, 12))`;

const RANGE = "day BETWEEN '2026-01-01' AND '2026-12-31'";

/** The sums of one direction: `in` is a word of SQL, so each name ends with what is added up. */
const sumsOf = (direction: string): string =>
  ['amount', 'undone', 'by_hand']
    .map(
      (what) => `coalesce(sum(CASE WHEN goes = '${direction}' THEN ${what} END), 0) AS ${direction}_${what}`,
    )
    .join(', ');

const totals = `WITH moved AS (
  SELECT tool, currency, coalesce(amount_direction, 'neither') AS goes, 1 AS effects, ${decimal('amount')} AS amount, 0 AS undone_effects, ${decimal("'0'")} AS undone,
    CASE WHEN status = 'resolved' THEN 1 ELSE 0 END AS by_hand_effects, CASE WHEN status = 'resolved' THEN ${decimal('amount')} END AS by_hand
  FROM effects WHERE ${RANGE}
  UNION ALL
  SELECT tool, undone_currency, coalesce(amount_direction, 'neither'), 0, ${decimal("'0'")}, 1, ${decimal('undone_amount')}, 0, ${decimal("'0'")}
  FROM effects WHERE status = 'undone' AND ${RANGE}
), summed AS (
  SELECT tool, currency, sum(effects) AS effects, sum(undone_effects) AS undone_effects, sum(by_hand_effects) AS by_hand_effects,
    ${AMOUNT_DIRECTIONS.map(sumsOf).join(',\n    ')}
  FROM moved GROUP BY tool, currency
)
SELECT *, (in_amount - in_undone) - (out_amount - out_undone) AS net FROM summed ORDER BY tool, currency`;

const standing = `SELECT day, saga_id, step, tool, agent, resource_key, external_ref, amount, currency, amount_direction, failed_at, error, doubt, external_url
FROM effects
WHERE status IN ('undo_failed', 'in_doubt') AND ${RANGE}
ORDER BY day, failed_at`;

const reference = `SELECT day, saga_id, step, tool, status, amount, currency, amount_direction, external_ref, undone_at, undone_amount, undone_ref, committed_hash, undone_hash, external_url
FROM effects
WHERE 'customer-7' IN (resource_key, external_ref, undone_ref) AND ${RANGE}
ORDER BY committed_at`;

const reconcile = `SELECT day, count(*) AS failed, count(seconds) AS reconciled, avg(seconds) AS seconds_to_reconcile
FROM reconciliations
WHERE ${RANGE}
GROUP BY day ORDER BY day`;

export const LEDGER_QUERIES = {
  'totals-by-tool': totals,
  'what-still-stands': standing,
  'of-a-reference': reference,
  'time-to-reconcile': reconcile,
} as const;

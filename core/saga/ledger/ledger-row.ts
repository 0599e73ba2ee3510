/**
 * Converts a ledger entry to the columns that people query (docs/sagas.md, Data), and back without loss,
 * because the hash covers all of it.
 */
import { proofOf } from '../../../contract/identity.ts';
import type { LedgerRow } from '../../../contract/ledger-query.ts';
import { canonicalJson } from '../../shared/canonical-json.ts';
import type { LedgerEntry } from '../model/ledger-entry.ts';

/** Only outcomes are in the index by day. The start of a call, or of a step, adds nothing to its outcome. */
export const isOutcome = (entry: LedgerEntry): boolean =>
  (entry.status !== 'started' || entry.direction === 'saga') && entry.status !== 'submitted';

/** Column order of tables and CSV. */
export const LEDGER_COLUMNS = [
  'saga_id',
  'seq',
  'step_index',
  'step',
  'tool',
  'direction',
  'status',
  'idempotency_key',
  'external_ref',
  'attempt',
  'error',
  'actor',
  'at',
  'prev_hash',
  'hash',
  'detail',
  'amount',
  'currency',
  'amount_direction',
  'external_url',
  'proof',
] as const satisfies readonly (keyof LedgerRow)[];

const COLUMN_OF = [
  ['sagaId', 'saga_id'],
  ['seq', 'seq'],
  ['stepIndex', 'step_index'],
  ['step', 'step'],
  ['tool', 'tool'],
  ['direction', 'direction'],
  ['status', 'status'],
  ['idempotencyKey', 'idempotency_key'],
  ['externalRef', 'external_ref'],
  ['attempt', 'attempt'],
  ['actor', 'actor'],
  ['at', 'at'],
  ['prevHash', 'prev_hash'],
  ['hash', 'hash'],
] as const satisfies [string, keyof LedgerRow][];
const NAMED = new Set<string>([...COLUMN_OF.map(([name]) => name), 'error']);

const stepColumns = (entry: LedgerEntry) =>
  'step' in entry
    ? { step_index: entry.stepIndex, step: entry.step, tool: entry.tool }
    : { step_index: null, step: null, tool: null };

const attemptColumns = (entry: LedgerEntry) =>
  'attempt' in entry
    ? { idempotency_key: entry.idempotencyKey, attempt: entry.attempt }
    : { idempotency_key: null, attempt: null };

/** Copies of parts of `detail`, as columns for queries. An entry is read back from `detail`. */
const copiedColumns = (entry: LedgerEntry) => ({
  ...(entry.status === 'committed'
    ? {
        amount: entry.amount ?? null,
        currency: entry.currency ?? null,
        amount_direction: entry.amountDirection ?? null,
      }
    : { amount: null, currency: null, amount_direction: null }),
  external_url: ('externalUrl' in entry ? entry.externalUrl : undefined) ?? null,
});

const errorOf = (entry: LedgerEntry) => ('error' in entry ? entry.error : undefined);

const splitError = (text: string) => {
  const at = text.indexOf(': ');
  return { name: text.slice(0, at), message: text.slice(at + 2) };
};

const detailOf = (entry: LedgerEntry): string => {
  const error = errorOf(entry);
  const isPlain = error === undefined || splitError(`${error.name}: ${error.message}`).name === error.name;
  const isDetail = ([name]: [string, unknown]) => !NAMED.has(name) || (name === 'error' && !isPlain);
  return canonicalJson(Object.fromEntries(Object.entries(entry).filter(isDetail)));
};

const errorColumn = (entry: LedgerEntry): string | null => {
  const error = errorOf(entry);
  return error === undefined ? null : `${error.name}: ${error.message}`;
};

export const toRow = (entry: LedgerEntry): LedgerRow => ({
  saga_id: entry.sagaId,
  seq: entry.seq,
  ...stepColumns(entry),
  direction: entry.direction,
  status: entry.status,
  ...attemptColumns(entry),
  external_ref: ('externalRef' in entry ? entry.externalRef : undefined) ?? null,
  error: errorColumn(entry),
  actor: entry.actor,
  at: entry.at,
  prev_hash: entry.prevHash,
  hash: entry.hash,
  detail: detailOf(entry),
  ...copiedColumns(entry),
  proof: proofOf(entry.actor, entry.person),
});

/** The rows are our own and were made from entries. The hash chain shows when one was changed. */
export const fromRow = (row: LedgerRow): LedgerEntry => {
  const entry: { [name: string]: unknown } = JSON.parse(row.detail);
  for (const [name, column] of COLUMN_OF) {
    const value = row[column];
    if (value !== null && value !== undefined) entry[name] = value;
  }
  if (row.error !== null && row.error !== undefined) entry['error'] ??= splitError(row.error);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- see above
  return entry as LedgerEntry;
};

/**
 * What the export of the ledger holds for queries: the columns of its tables, the keys of its objects, and the
 * function that writes again what was there before.
 */
import * as z from 'zod';
import { cursor } from './answer-fields.ts';
import type { LedgerEffect, Reconciliation } from './ledger-answers.ts';

/** Types as Athena names them. An amount is a text, because only text keeps each digit on its way through JSON. */
type ColumnType = 'string' | 'int';
type Columns<Line> = { readonly [Name in keyof Line]: ColumnType };

/** An effect with its undo, and where in the ledger both stand. */
export interface EffectLine extends LedgerEffect {
  committed_hash: string;
  undone_hash: string | null;
  last_seq: number;
}

/** One time in which people had to work a saga. */
export interface ReconciliationLine {
  saga_id: Reconciliation['sagaId'];
  failed_at: Reconciliation['failedAt'];
  reconciled_at: Reconciliation['reconciledAt'];
  seconds: Reconciliation['seconds'];
  last_seq: number;
}

const EFFECTS: Columns<EffectLine> = {
  saga_id: 'string',
  step_index: 'int',
  epoch: 'int',
  step: 'string',
  tool: 'string',
  version: 'string',
  agent: 'string',
  resource_key: 'string',
  external_ref: 'string',
  status: 'string',
  amount: 'string',
  currency: 'string',
  amount_direction: 'string',
  amount_problem: 'string',
  committed_at: 'string',
  committed_seq: 'int',
  committed_hash: 'string',
  undone_at: 'string',
  undone_seq: 'int',
  undone_hash: 'string',
  undone_by: 'string',
  undone_ref: 'string',
  undone_amount: 'string',
  undone_currency: 'string',
  undone_problem: 'string',
  residue: 'string',
  failed_at: 'string',
  error: 'string',
  evidence: 'string',
  doubt: 'string',
  last_seq: 'int',
  external_url: 'string',
  undone_by_proof: 'string',
};

const RECONCILIATIONS: Columns<ReconciliationLine> = {
  saga_id: 'string',
  failed_at: 'string',
  reconciled_at: 'string',
  seconds: 'int',
  last_seq: 'int',
};

/** `day`: what its partition is called after. */
export const EXPORT_TABLES = {
  effects: { columns: EFFECTS, day: 'the day on which the effect was committed' },
  reconciliations: { columns: RECONCILIATIONS, day: 'the day on which the saga could not be undone' },
} as const;
export type ExportTable = keyof typeof EXPORT_TABLES;

/** Of both tables. */
export const EXPORT_PARTITION = 'day';

/** One object for each saga and day: written again when the saga goes on, so no line is ever there twice. */
export const exportKey = (table: ExportTable, day: string, sagaId: string): string =>
  // A name with a colon is no name everywhere; no id has an exclamation mark.
  `${table}/${EXPORT_PARTITION}=${day}/${sagaId.replaceAll(':', '!')}.json`;

const day = z.iso.date();

export const exportLedgerInput = () =>
  z.strictObject({
    from: day.describe('sagas that moved on this day or later are exported, whole'),
    to: day.optional().describe('the last day; default today'),
    cursor: z.string().max(2000).optional().describe('the cursor of the answer before'),
  });
export type ExportLedgerInput = z.infer<ReturnType<typeof exportLedgerInput>>;

export const exportLedgerAnswer = () =>
  z.object({
    sagas: z
      .int()
      .describe('how many this call looked at; a saga that moved on several days may be counted again'),
    written: z.int().describe('how many objects were missing or older, and so were written'),
    kept: z.int().describe('how many objects were right already'),
    cursor,
  });
export type ExportReport = z.infer<ReturnType<typeof exportLedgerAnswer>>;

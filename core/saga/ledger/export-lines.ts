/**
 * The objects of one saga in the export: one line of JSON for each effect with its undo, grouped by the day
 * on which the effect was committed or left in doubt. An object depends only on the ledger up to its `seq`,
 * and never on when or how often it is made. Pure.
 */
import {
  type EffectLine,
  type ExportTable,
  exportKey,
  type ReconciliationLine,
} from '../../../contract/ledger-export.ts';
import type { SagaEffects } from './effect-rows.ts';

/**
 * Which lines are made from the entries. It is stored as the object's metadata `walkback-form`, so that whoever
 * reads the bucket with tools of their own knows what a line means. Raised with each change of the lines; a
 * backfill then replaces the objects of a lower form.
 */
const EXPORT_FORM = 1;

export interface ExportObject {
  key: string;
  form: number;
  /**
   * Number of the last entry that changed anything in the object. Of two objects with one key, the one with
   * the higher `seq` is newer.
   */
  seq: number;
  body: string;
}

const effectLines = ({ committed }: SagaEffects): EffectLine[] =>
  committed.map(({ row, trace }) => ({
    ...row,
    committed_hash: trace.committedHash,
    undone_hash: trace.undoneHash,
    last_seq: trace.lastSeq,
  }));

const reconciliationLines = ({ failures }: SagaEffects): ReconciliationLine[] =>
  failures.map(({ reconciliation: one, lastSeq }) => ({
    saga_id: one.sagaId,
    failed_at: one.failedAt,
    reconciled_at: one.reconciledAt,
    seconds: one.seconds,
    last_seq: lastSeq,
  }));

const dayOf = (at: string): string => at.slice(0, 10);

const objectsOf = <Line extends { saga_id: string; last_seq: number }>(
  table: ExportTable,
  lines: readonly Line[],
  dayOfLine: (line: Line) => string,
): ExportObject[] =>
  [...Map.groupBy(lines, dayOfLine)].map(([day, ofDay]) => ({
    key: exportKey(table, day, ofDay[0]?.saga_id ?? ''),
    form: EXPORT_FORM,
    seq: Math.max(...ofDay.map((line) => line.last_seq)),
    body: ofDay.map((line) => `${JSON.stringify(line)}\n`).join(''),
  }));

export const exportObjects = (effects: SagaEffects): ExportObject[] => [
  ...objectsOf('effects', effectLines(effects), (line) => dayOf(line.committed_at)),
  ...objectsOf('reconciliations', reconciliationLines(effects), (line) => dayOf(line.failed_at)),
];

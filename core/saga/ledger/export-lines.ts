/**
 * The objects of a saga in the export: a line of JSON for each committed effect with its undo, by the day on which it was
 * committed. What an object holds depends on the ledger up to its `seq` alone, and never on when or how often it is
 * made. Pure.
 */
import {
  type EffectLine,
  type ExportTable,
  exportKey,
  type ReconciliationLine,
} from '../../../contract/ledger-export.ts';
import type { SagaEffects } from './effect-rows.ts';

export interface ExportObject {
  key: string;
  /** Of the last entry that changed anything in it: of two objects with one key, the one with the higher is newer. */
  seq: number;
  body: string;
}

const effectLines = ({ rows, traces }: SagaEffects): EffectLine[] =>
  rows.flatMap((row, at) => {
    const trace = traces[at];
    if (trace === undefined) return [];
    const { committedHash, undoneHash, lastSeq } = trace;
    return [{ ...row, committed_hash: committedHash, undone_hash: undoneHash, last_seq: lastSeq }];
  });

const reconciliationLines = ({ reconciliations, reconciledSeqs }: SagaEffects): ReconciliationLine[] =>
  reconciliations.map((one, at) => ({
    saga_id: one.sagaId,
    failed_at: one.failedAt,
    reconciled_at: one.reconciledAt,
    seconds: one.seconds,
    last_seq: reconciledSeqs[at] ?? 0,
  }));

const dayOf = (at: string): string => at.slice(0, 10);

const objectsOf = <Line extends { saga_id: string; last_seq: number }>(
  table: ExportTable,
  lines: readonly Line[],
  dayOfLine: (line: Line) => string,
): ExportObject[] =>
  [...Map.groupBy(lines, dayOfLine)].map(([day, ofDay]) => ({
    key: exportKey(table, day, ofDay[0]?.saga_id ?? ''),
    seq: Math.max(...ofDay.map((line) => line.last_seq)),
    body: ofDay.map((line) => `${JSON.stringify(line)}\n`).join(''),
  }));

export const exportObjects = (effects: SagaEffects): ExportObject[] => [
  ...objectsOf('effects', effectLines(effects), (line) => dayOf(line.committed_at)),
  ...objectsOf('reconciliations', reconciliationLines(effects), (line) => dayOf(line.failed_at)),
];

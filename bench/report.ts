/** Rows of the report, as data and as a table. */
import { styleText } from 'node:util';
import Table from 'cli-table3';
import type { Comparison } from './measure.ts';

export interface Row {
  what: string;
  /** The value that `measured` is compared with. Undefined where the budget is absolute. */
  floor?: string;
  measured: string;
  /** What the budget is about: a ratio, trips, bytes or milliseconds. */
  value: number;
  /** Undefined: shown, not judged. */
  budget?: number;
  unit: 'x' | 'trips' | 'bytes' | 'ms';
  cpuRatio?: number;
  /** What that is the ratio of, where it is a result by itself. Only in JSON. */
  cpuMs?: { floor: number; measured: number };
  roundTrips?: number;
}

export const milliseconds = (ms: number): string => `${ms < 10 ? ms.toFixed(1) : ms.toFixed(0)} ms`;
const kilobytes = (bytes: number): string => `${(bytes / 1000).toFixed(0)} kB`;

/** A row about time against a floor measured in the same run. */
export const ratioRow = (
  what: string,
  { floorMs, subjectMs, ratio, cpuRatio }: Comparison,
  more: { budget?: number; roundTrips?: number },
): Row => ({
  what,
  floor: milliseconds(floorMs),
  measured: milliseconds(subjectMs),
  value: ratio,
  unit: 'x',
  cpuRatio,
  ...more,
});

/** A row about processor time: shorter waits do not count. */
export const processorRow = (
  what: string,
  compared: Comparison,
  more: { budget?: number; roundTrips?: number },
): Row => ({
  ...ratioRow(what, compared, {}),
  value: compared.cpuRatio ?? compared.ratio,
  ...more,
});

const shown = (value: number, unit: Row['unit']): string => {
  switch (unit) {
    case 'x':
      return `${value.toFixed(2)}x`;
    case 'trips':
      return String(value);
    case 'bytes':
      return kilobytes(value);
    case 'ms':
      return milliseconds(value);
  }
};

export type Verdict = 'pass' | 'over' | 'info';

export const verdictOf = (value: number, budget: number | undefined): Verdict => {
  if (budget === undefined) return 'info';
  return value <= budget ? 'pass' : 'over';
};

export const verdict = ({ value, budget }: Row): Verdict => verdictOf(value, budget);

export const MARKS: Record<Verdict, string> = {
  pass: styleText('green', 'pass'),
  over: styleText('red', 'over'),
  info: '',
};

export const renderTable = (groups: readonly { title: string; rows: readonly Row[] }[]): string => {
  const table = new Table({
    head: ['', 'floor', 'measured', 'ratio', 'CPU', 'trips', 'budget', ''],
    colAligns: ['left', 'right', 'right', 'right', 'right', 'right', 'right', 'left'],
    style: { head: [], border: [] },
  });
  for (const { title, rows } of groups) {
    table.push([{ colSpan: 8, content: styleText('bold', title) }]);
    for (const row of rows) {
      table.push([
        row.what,
        row.floor ?? '',
        row.measured,
        row.unit === 'x' ? shown(row.value, 'x') : '',
        row.cpuRatio === undefined ? '' : shown(row.cpuRatio, 'x'),
        row.roundTrips === undefined ? '' : String(row.roundTrips),
        row.budget === undefined ? '' : shown(row.budget, row.unit),
        MARKS[verdict(row)],
      ]);
    }
  }
  return table.toString();
};

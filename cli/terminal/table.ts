import Table from 'cli-table3';
import type { Paint } from './terminal.ts';

export interface Column {
  head: string;
  align?: 'left' | 'right';
}

const NO_LINES = {
  top: '',
  'top-mid': '',
  'top-left': '',
  'top-right': '',
  bottom: '',
  'bottom-mid': '',
  'bottom-left': '',
  'bottom-right': '',
  left: '',
  'left-mid': '',
  mid: '',
  'mid-mid': '',
  right: '',
  'right-mid': '',
  middle: '  ',
};

/** Columns without lines around them. Cells may be coloured; they must fit, nothing is cut here. */
export const table = (
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  paint: Paint,
): string => {
  const made = new Table({
    head: columns.map((column) => paint.dim(column.head)),
    colAligns: columns.map((column) => column.align ?? 'left'),
    chars: NO_LINES,
    style: { head: [], border: [], 'padding-left': 0, 'padding-right': 0 },
  });
  made.push(...rows.map((row) => [...row]));
  const lines = made.toString().split('\n');
  return `${lines.map((line) => line.trimEnd()).join('\n')}\n`;
};

import type { Paint } from './terminal.ts';
import { padEnd, padStart, widest } from './text.ts';

export interface Column {
  head: string;
  align?: 'left' | 'right';
}

const GAP = '  ';

/** Columns without lines around them. Cells may be coloured. They must fit, because nothing is cut here. */
export const table = (
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  paint: Paint,
): string => {
  const made = columns.map(({ head, align }, at) => {
    const cells = [paint.dim(head), ...rows.map((row) => row[at] ?? '')];
    const width = widest(cells);
    return cells.map((cell) => (align === 'right' ? padStart(cell, width) : padEnd(cell, width)));
  });
  const lines = Array.from({ length: rows.length + 1 }, (_, at) => made.map((cells) => cells[at]).join(GAP));
  return `${lines.map((line) => line.trimEnd()).join('\n')}\n`;
};

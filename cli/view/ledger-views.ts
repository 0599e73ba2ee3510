import type { LedgerRow } from '../../contract/saga-answers.ts';
import { table } from '../terminal/table.ts';
import type { Paint } from '../terminal/terminal.ts';
import { printableLine, truncate } from '../terminal/text.ts';

const COLUMNS = [
  { head: 'AT' },
  { head: 'SAGA' },
  { head: 'SEQ', align: 'right' as const },
  { head: 'STEP' },
  { head: 'WHAT' },
  { head: 'REFERENCE' },
  { head: 'BY' },
  { head: 'ERROR' },
];

const ERROR_WIDTH = 50;

export const ledgerTable = (rows: readonly LedgerRow[], paint: Paint): string => {
  if (rows.length === 0) return 'No entries.\n';
  const cells = rows.map((row) => [
    row.at.slice(0, 19).replace('T', ' '),
    printableLine(row.saga_id),
    String(row.seq),
    printableLine(row.step ?? '-'),
    `${row.direction} ${row.status}`,
    printableLine(row.external_ref ?? '-'),
    printableLine(row.actor),
    truncate(printableLine(row.error ?? ''), ERROR_WIDTH),
  ]);
  return table(COLUMNS, cells, paint);
};

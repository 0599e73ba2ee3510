import { table } from '../terminal/table.ts';
import type { Paint } from '../terminal/terminal.ts';
import type { Comparison } from './fingerprint.ts';

const SHOWN = 7;

const cell = (before: string, after: string, equal: boolean, paint: Paint): string => {
  const pair = `${before.slice(0, SHOWN)} ${equal ? '=' : '≠'} ${after.slice(0, SHOWN)}`;
  return equal ? `${pair} ${paint.green('✔')}` : paint.red(`${pair} ✘`);
};

/** One row per repository: hashes before and after, and whether they are equal. */
export const proofTable = (comparisons: readonly Comparison[], paint: Paint): string =>
  table(
    [{ head: '' }, { head: 'FILES' }, { head: 'HEAD, BRANCHES' }, { head: 'INDEX' }],
    comparisons.map(({ repository, before, after, files, head, index }) => [
      paint.bold(repository),
      cell(before.files, after.files, files, paint),
      // The commit is what people know; branches count too, so a difference there shows the hashes.
      head ? cell(before.commit, after.commit, true, paint) : cell(before.head, after.head, false, paint),
      cell(before.index, after.index, index, paint),
    ]),
    paint,
  );

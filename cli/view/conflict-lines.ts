/** The conflicts of a merge, a revert or a rollback of some paths. */
import type { Conflict } from '../../contract/rollback-answers.ts';
import { plural } from '../../core/shared/plural.ts';
import { printableLine } from '../../present/text.ts';
import { visibleLength } from '../terminal/columns.ts';
import type { Paint } from '../terminal/terminal.ts';
import { truncate } from '../terminal/text.ts';

const MOST_CONFLICTS = 20;
/** Least width for a conflict's message. Its path is never cut. */
const LEAST_MESSAGE_WIDTH = 40;

interface Conflicts {
  conflicts?: readonly Conflict[] | undefined;
}

const conflictPath = ({ repository, path }: Conflict): string => {
  if (path === '.') return repository;
  return repository === '.' ? path : `${repository}/${path}`;
};

export const conflictLines = (
  { conflicts = [] }: Conflicts,
  { paint, width }: { paint: Paint; width: number },
): string[] => {
  const lines = conflicts.slice(0, MOST_CONFLICTS).map((one) => {
    const place = printableLine(conflictPath(one));
    const room = Math.max(LEAST_MESSAGE_WIDTH, width - 6 - visibleLength(place));
    return `  ${paint.red('✖')} ${place}  ${truncate(printableLine(`${one.kind}: ${one.message}`), room)}`;
  });
  const more = conflicts.length - lines.length;
  return more > 0 ? [...lines, paint.dim(`    … and ${more} more`)] : lines;
};

/** The last line of a plan with conflicts. */
export const conflictSum = ({ conflicts = [] }: Conflicts): string[] =>
  conflicts.length === 0 ? [] : [`  ${plural(conflicts.length, 'conflict')}: nothing would be changed`];

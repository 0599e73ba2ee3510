import type { DeleteCopyAnswer, ListedCopy } from '../../contract/checkpoint-answers.ts';
import { HOUR_MS, MINUTE_MS } from '../../contract/times.ts';
import { plural } from '../../core/shared/plural.ts';
import { printableLine } from '../../present/text.ts';
import type { Paint } from '../terminal/terminal.ts';
import { formatTime } from '../terminal/text.ts';

type Copy = ListedCopy & { directory?: string; work?: NonNullable<DeleteCopyAnswer['work']> };

const MOST_NAMED = 10;

/** Work that is lost with a copy. */
const workLines = ({ work }: Copy, paint: Paint): string[] => {
  if (work === undefined) return [];
  const point = work.checkpointId ?? 'no checkpoint';
  const some = (lines: readonly string[]) => [
    ...lines.slice(0, MOST_NAMED),
    ...(lines.length > MOST_NAMED ? [`and ${lines.length - MOST_NAMED} more`] : []),
  ];
  const { changed, uncaptured } = work;
  return [
    ...(changed.length === 0
      ? []
      : [paint.red(`  work that ${point} does not hold: ${some(changed).map(printableLine).join(', ')}`)]),
    ...some(uncaptured.map(({ path, reason }) => `${path}: ${reason}`)).map((line) =>
      paint.red(`  not captured: ${printableLine(line)}`),
    ),
  ];
};

/** `12 s`, `7 min`, `3 h`: rounded down, as people give an age. */
export const ageOf = (startedAt: string, now: Date): string => {
  const ms = Math.max(0, now.getTime() - Date.parse(startedAt));
  if (ms >= HOUR_MS) return `${Math.floor(ms / HOUR_MS)} h`;
  return ms >= MINUTE_MS ? `${Math.floor(ms / MINUTE_MS)} min` : `${Math.floor(ms / 1000)} s`;
};

const WHY = {
  review: 'a copy to look at',
  resume: 'left when the session went on elsewhere or ended',
  fork: 'left by a fork',
} as const;

/** One block for each copy, because a directory is longer than a column. */
export const copiesTable = (copies: readonly Copy[], { paint, now }: { paint: Paint; now: Date }): string => {
  if (copies.length === 0) return 'No review copies. walkback rehydrate makes one.\n';
  const blocks = copies.map((copy) => {
    const point = [copy.messageId, copy.checkpointId].flatMap((one) => (one === null ? [] : [one]));
    const where = copy.directory ?? copy.projectsRoot;
    const ends = copy.endsAt === null ? '' : `, ends ${formatTime(copy.endsAt, now)}`;
    const busy = copy.state === 'busy' ? paint.yellow('  busy') : '';
    const lines = [
      `${paint.bold(printableLine(copy.sandboxId))}  ${ageOf(copy.startedAt, now)} old${ends}${busy}`,
      `  ${paint.dim('session')}   ${printableLine(copy.sessionId)}, ${WHY[copy.madeFor]}`,
      `  ${paint.dim('shows')}     ${point.length === 0 ? 'a checkpoint that has expired' : printableLine(point.join('  '))}`,
    ];
    return [
      ...lines,
      ...(where === null ? [] : [`  ${paint.dim('at')}        ${printableLine(where)}`]),
      ...workLines(copy, paint),
    ].join('\n');
  });
  return `${blocks.join('\n\n')}\n`;
};

export const deletedCopies = (
  deleted: readonly Copy[],
  failed: readonly { sandboxId: string; error: string; message: string }[],
  paint: Paint,
): string =>
  [
    `${paint.green('✔')} Deleted ${plural(deleted.length, 'copy', 'copies')}.`,
    ...deleted.flatMap((copy) => {
      const lines = workLines(copy, paint);
      return lines.length === 0 ? [] : [`  lost with ${printableLine(copy.sandboxId)}:`, ...lines];
    }),
    ...failed.map(({ error, message }) => paint.yellow(`! ${error}: ${printableLine(message)}`)),
    '',
  ].join('\n');

import type { SettledRollback, Uncaptured } from '../../contract/answer-fields.ts';
import type { CheckpointAnswer } from '../../contract/checkpoint-answers.ts';
import { plural } from '../../core/shared/plural.ts';
import { formatBytes, printableLine } from '../../present/text.ts';
import type { Paint } from '../terminal/terminal.ts';
import { padEnd, widest } from '../terminal/text.ts';

const MOST_LINES = 8;

const uncapturedLines = (label: string, list: readonly Uncaptured[]): string[] => {
  const lines = list.slice(0, MOST_LINES).map(({ path, reason, sizeBytes }) => {
    const size = sizeBytes === undefined ? '' : ` (${formatBytes(sizeBytes)})`;
    return `  ${label}  ${printableLine(path)}${size}: ${printableLine(reason)}`;
  });
  const more = list.length - lines.length;
  return more > 0 ? [...lines, `  ${label}  ${more} more`] : lines;
};

/** How this call settled an abandoned rollback. */
export const settledLines = (settled: SettledRollback | undefined, paint: Paint): string[] =>
  settled === undefined ? [] : [paint.yellow(`! ${printableLine(settled.message)}`)];

const whatHappened = ({ change, bundleBytes }: CheckpointAnswer['repositories'][number]): string => {
  if (change === 'removed') return 'removed';
  return change === 'created' ? `created ${formatBytes(bundleBytes)}` : formatBytes(bundleBytes);
};

/** The answer of `walkback checkpoint`. */
export const takenCheckpoint = (answer: CheckpointAnswer, paint: Paint): string => {
  const changed = answer.repositories.filter((repository) => repository.changed);
  // Repositories that went earlier do not count any more.
  const known = answer.repositories.filter((one) => one.changed || one.state !== 'absent');
  const mark = answer.complete ? paint.green('✔') : paint.yellow('!');
  const summary =
    changed.length === 0
      ? 'nothing changed'
      : `${changed.length} of ${plural(known.length, 'repository', 'repositories')} changed`;
  const nameWidth = widest(changed.map(({ path }) => printableLine(path)));
  const lines = changed.map(
    (one) => `  ${padEnd(paint.bold(printableLine(one.path)), nameWidth)}  ${paint.dim(whatHappened(one))}`,
  );
  const incomplete = answer.complete ? '' : paint.yellow(' incomplete:');
  return `${[
    `${mark} ${paint.bold(`cp-${answer.seq}`)} ${paint.dim(answer.checkpointId)} of ${paint.yellow(answer.messageId ?? '-')}: ${summary}${incomplete}`,
    ...lines,
    ...uncapturedLines(paint.yellow('missing'), answer.failures),
    ...uncapturedLines(paint.dim('left out'), answer.skipped),
    ...settledLines(answer.settledRollback, paint),
  ].join('\n')}\n`;
};

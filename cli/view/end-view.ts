/** The plan and the outcome of `session end`. */
import type { Cleaned, DiscardedFork, EndSessionAnswer } from '../../contract/checkpoint-answers.ts';
import { plural } from '../../core/shared/plural.ts';
import { formatBytes, printableLine } from '../../present/text.ts';
import { table } from '../terminal/table.ts';
import type { Paint } from '../terminal/terminal.ts';

const MOST_LINES = 20;

const listed = (lines: readonly string[], paint: Paint): string[] => {
  const more = lines.length - MOST_LINES;
  return more > 0 ? [...lines.slice(0, MOST_LINES), paint.dim(`    … and ${more} more`)] : [...lines];
};

type Item = DiscardedFork['uncaptured'][number];

const items = (list: readonly Item[], paint: Paint): string[] =>
  listed(
    list.map(({ path, reason }) => `    ${printableLine(path)}: ${printableLine(reason)}`),
    paint,
  );

const named = (paths: readonly string[], paint: Paint): string[] =>
  listed(
    paths.map((path) => `    ${printableLine(path)}`),
    paint,
  );

interface Look {
  paint: Paint;
  isDropping: boolean;
}

const workLines = (fork: DiscardedFork, { paint, isDropping }: Look): string[] => {
  const { changed, uncaptured } = fork;
  const where = plural(changed.length, 'repository', 'repositories');
  const what = isDropping
    ? paint.red(`  work in ${where} is in no checkpoint, and is destroyed:`)
    : `  work in ${where} is in no checkpoint; it gets a last one first:`;
  const cannot = isDropping
    ? paint.red('  this cannot be captured, and is destroyed:')
    : paint.red('  this cannot be captured, so the fork would be kept (--drop-uncaptured destroys it):');
  return [
    ...(changed.length === 0 ? [] : [what, ...named(changed, paint)]),
    ...(uncaptured.length === 0 ? [] : [cannot, ...items(uncaptured, paint)]),
    ...(changed.length + uncaptured.length === 0 ? ['  its checkpoints hold all of its work'] : []),
  ];
};

/** What `session end --discard` would do. */
export const plannedEnd = (sessionId: string, fork: DiscardedFork, look: Look): string => {
  const { paint } = look;
  const lines = fork.isRunning
    ? [
        ...workLines(fork, look),
        `  sandbox ${printableLine(fork.sandboxId)} is killed, with ignored files and files in no repository`,
        ...items(fork.leftOut, paint),
      ]
    : [`  sandbox ${printableLine(fork.sandboxId)} is gone already, or paused`];
  return `${[`${paint.bold('Plan')}: end ${sessionId}, and discard its sandbox`, ...lines].join('\n')}\n`;
};

/** What became of the sandbox of a fork, below the line that says that it ended. */
export const discardedLines = (fork: DiscardedFork, { paint, isDropping }: Look): string[] => {
  const { changed, uncaptured, lastCheckpointId } = fork;
  if (!fork.isRunning && !isDropping) return [`  its sandbox was gone already, or is paused`];
  const lost = [...changed, ...uncaptured.map(({ path }) => path)];
  return [
    `  its sandbox ${printableLine(fork.sandboxId)} was killed`,
    ...(lastCheckpointId === null ? [] : [`  its last work is in ${lastCheckpointId}`]),
    ...(isDropping && lost.length > 0
      ? [paint.red('  destroyed, because no checkpoint held it: work in'), ...named(lost, paint)]
      : []),
  ];
};

/** What lies in `.agent-shadow`: paths, files and sizes. */
export const leftoverLines = ({ entries, files }: Cleaned['removed'], paint: Paint): string[] => {
  if (entries.length === 0) return [];
  const rows = entries
    .slice(0, MOST_LINES)
    .map((one) => [printableLine(one.path), plural(one.files, 'file'), formatBytes(one.bytes)]);
  const more = entries.length - MOST_LINES;
  const columns = [
    { head: 'PATH' },
    { head: 'FILES', align: 'right' as const },
    { head: 'SIZE', align: 'right' as const },
  ];
  return [
    ...table(columns, rows, paint)
      .trimEnd()
      .split('\n')
      .map((line) => `    ${line}`),
    ...(more > 0 ? [paint.dim(`    … and more, ${plural(files, 'file')} in all`)] : []),
  ];
};

/** What was removed from the sandbox of a session that ended, or would be. */
export const cleanedLines = (
  cleaned: Cleaned | undefined,
  { paint, isPlan }: { paint: Paint; isPlan: boolean },
): string[] => {
  if (cleaned === undefined) {
    return ['  its sandbox is gone, or paused, or did not answer: nothing was removed there'];
  }
  const { removed, kept } = cleaned;
  const sum = (those: Cleaned['removed']) => `${plural(those.files, 'file')}, ${formatBytes(those.bytes)}`;
  const done = isPlan ? 'would be removed from its sandbox' : 'removed from its sandbox';
  return [
    ...(removed.entries.length === 0 ? [] : [`  ${done}: ${sum(removed)}`, ...leftoverLines(removed, paint)]),
    ...(kept.entries.length === 0
      ? []
      : [`  stays, because it may hold files of yours: ${sum(kept)}`, ...leftoverLines(kept, paint)]),
  ];
};

export const endedSession = (
  { sessionId, expiresAt }: EndSessionAnswer,
  retentionDays: number,
  lines: readonly string[],
): string => {
  const expires = new Date(expiresAt * 1000).toISOString();
  const kept =
    `Session ${sessionId} ended. The checkpoint it stands on is kept until ${expires}, older ones for ` +
    `${plural(retentionDays, 'day')} from when they were taken.`;
  return `${[kept, ...lines].join('\n')}\n`;
};

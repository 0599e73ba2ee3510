import type { RollbackAnswer } from '../../contract/rollback-answers.ts';
import { plural } from '../../core/shared/plural.ts';
import { hostLines } from '../../present/host-lines.ts';
import { listSome, printableLine } from '../../present/text.ts';
import type { Paint } from '../terminal/terminal.ts';
import { padEnd, truncate, widest } from '../terminal/text.ts';
import { settledLines } from './checkpoint-view.ts';
import { conflictLines, conflictSum } from './conflict-lines.ts';
import { withLink } from './link-lines.ts';
import type { LabelOf } from './message-label.ts';

type Restored = RollbackAnswer['repositories'][number];

const MOST_PATHS = 10;
/** Longer names are not padded: one long name would make the column too wide. */
const MOST_PADDED = 40;

const ACTIONS: Readonly<Record<Restored['action'], string>> = {
  unchanged: 'as it is',
  restored: 'restored',
  created: 'created',
  parked: 'set aside',
};

/** One line per repository: path, what happens to it, how many files. Plain text. */
export const restoredRows = (repositories: readonly Restored[]): string[][] =>
  repositories.map(({ path, action, written, deleted }) => [
    printableLine(path),
    ACTIONS[action],
    written + deleted === 0 ? '' : `${written} written, ${deleted} deleted`,
  ]);

export const repositoryLines = (repositories: readonly Restored[], paint: Paint, width: number): string[] => {
  const rows = restoredRows(repositories);
  const nameWidth = Math.min(MOST_PADDED, widest(rows.map(([name = '']) => name)));
  return repositories.flatMap((repository, index) => {
    const [name = '', action = '', counts = ''] = rows[index] ?? [];
    const idle = repository.action === 'unchanged';
    const shown = padEnd(name, nameWidth);
    const line = `  ${idle ? paint.dim(shown) : paint.bold(shown)}  ${padEnd(idle ? paint.dim(action) : action, 9)}  ${paint.dim(counts)}`;
    const host = hostLines(repository.host).map((text) => `    ${paint.yellow(truncate(text, width - 6))}`);
    return [line.trimEnd(), ...host, ...pathLines(repository.paths ?? [], paint)];
  });
};

/** Never cut, because `--path` takes them. */
const pathLines = (paths: NonNullable<Restored['paths']>, paint: Paint): string[] => {
  const lines = paths.slice(0, MOST_PATHS).map(({ path, change }) => {
    const shown = printableLine(path);
    return change === 'delete' ? `    ${paint.red(`- ${shown}`)}` : `    ${paint.green(`~ ${shown}`)}`;
  });
  const more = paths.length - lines.length;
  return more > 0 ? [...lines, paint.dim(`    … and ${more} more`)] : lines;
};

const messageLines = ({ discardedMessageIds: ids }: RollbackAnswer, verb: string, how: How): string[] => {
  const { labelOf = (id) => id } = how;
  return ids.length === 0
    ? []
    : [`  ${verb} ${plural(ids.length, 'message')}: ${listSome(ids.map(labelOf), 6)}`];
};

const trimLines = ({ trimAfterMessageId: id }: RollbackAnswer, { paint, labelOf }: How): string[] =>
  id === null ? [] : [`  ${paint.dim(`the conversation goes on after ${labelOf?.(id) ?? id}`)}`];

const MOST_EFFECTS = 10;

/** What sagas did after the target, which no rollback takes back. */
const effectLines = ({ effects = [] }: RollbackAnswer, paint: Paint): string[] => {
  const shown = effects.slice(0, MOST_EFFECTS);
  const lines = shown.flatMap(({ sagaId, step, tool, externalRef, externalUrl, reversible }) => {
    const reference = externalRef === null ? '' : `  ${externalRef}`;
    const note = reversible ? '' : '  nothing takes it back';
    const text = printableLine(`stands: ${step} (${tool}) of saga ${sagaId}${reference}${note}`);
    return withLink(`  ${paint.red('✖')} ${text}`, externalUrl, paint);
  });
  const more = effects.length - shown.length;
  return more > 0 ? [...lines, paint.dim(`    … and ${more} more`)] : lines;
};

export const warningLines = (result: Pick<RollbackAnswer, 'warnings'>, paint: Paint): string[] =>
  result.warnings.map((warning) => paint.yellow(`  ! ${printableLine(warning)}`));

interface How {
  /** As the person wrote it. */
  to: string;
  /** Only these paths, as the person wrote them. */
  paths?: readonly string[] | undefined;
  /** What messages are called. Default: by their ids. */
  labelOf?: LabelOf | undefined;
  paint: Paint;
  width: number;
}

/** The requested point. A checkpoint's name is its id. */
const pointText = ({ checkpointId, pathsFrom }: RollbackAnswer, { to, paths, paint }: How): string => {
  const id = paths === undefined ? checkpointId : pathsFrom;
  return `${paint.yellow(to)}${id === undefined || id === to ? '' : ` ${paint.dim(id)}`}`;
};

const pathsText = (paths: readonly string[]): string => listSome(paths.map(printableLine), 3);

const goalText = (plan: RollbackAnswer, how: How): string =>
  how.paths === undefined
    ? `back to ${pointText(plan, how)}`
    : `${pathsText(how.paths)} as at ${pointText(plan, how)}; all else stays`;

const reachedText = (result: RollbackAnswer, how: How): string => {
  const { paths, paint } = how;
  if (paths === undefined) {
    const count = plural(result.repositories.length, 'repository', 'repositories');
    return `Back at ${pointText(result, how)} in ${count}, epoch ${result.epoch}.`;
  }
  const verb = paths.length === 1 ? 'is' : 'are';
  const now = `Now ${paint.dim(result.checkpointId)}, epoch ${result.epoch}.`;
  return `${pathsText(paths)} ${verb} as at ${pointText(result, how)}; all else stays. ${now}`;
};

/** The plan of a dry run. */
export const plannedRollback = (plan: RollbackAnswer, how: How): string => {
  const { paint, width } = how;
  return `${[
    `${paint.bold('Plan')}: ${goalText(plan, how)}`,
    ...((plan.conflicts ?? []).length > 0 ? [] : repositoryLines(plan.repositories, paint, width)),
    ...conflictLines(plan, how),
    ...messageLines(plan, 'leaves behind', how),
    ...effectLines(plan, paint),
    ...warningLines(plan, paint),
    ...conflictSum(plan),
  ].join('\n')}\n`;
};

/**
 * What a rollback did, and how to undo it. `commandTo`: the command for a rollback of this session to that
 * checkpoint, for copying. `back`: the command that takes this one back.
 */
export const appliedRollback = (
  result: RollbackAnswer,
  {
    commandTo,
    back,
    ...how
  }: How & { commandTo: (checkpointId: string) => string; back?: string | undefined },
): string => {
  const { paint, width } = how;
  const { lateWrites } = result;
  const undoLines = back === undefined ? [] : ['', `${paint.dim('undo')}  ${back}`];
  const lateLines =
    lateWrites === undefined
      ? []
      : [`  ${paint.dim('bring them back with')}  ${commandTo(lateWrites.checkpointId)}`];
  return `${[
    `${paint.green('✔')} ${reachedText(result, how)}`,
    ...repositoryLines(result.repositories, paint, width),
    ...messageLines(result, 'left behind', how),
    ...effectLines(result, paint),
    ...trimLines(result, how),
    ...warningLines(result, paint),
    ...lateLines,
    ...settledLines(result.settledRollback, paint).map((line) => `  ${line}`),
    ...undoLines,
  ].join('\n')}\n`;
};

import type { ListedSession, StartSessionAnswer } from '../../contract/checkpoint-answers.ts';
import { plural } from '../../core/shared/plural.ts';
import { printableLine } from '../../present/text.ts';
import type { TargetFlags } from '../target/select.ts';
import { table } from '../terminal/table.ts';
import type { Paint } from '../terminal/terminal.ts';
import { formatTime, truncateStart, widest } from '../terminal/text.ts';
import { withWhere } from '../where-words.ts';

/** Width of all columns except id and root, with the gaps. */
const FIXED_COLUMNS = 37;
const GAP_WIDTH = 2;

const projectOf = ({ project = '' }: ListedSession): string => printableLine(project);

/** Projects get a column only when a session has one. */
const hasProjects = (sessions: readonly ListedSession[]): boolean =>
  sessions.some(({ project }) => project !== undefined);

/**
 * Rows of `walkback session list`: plain text, one array per session. Ids are never cut, because other
 * commands take them.
 */
export const sessionRows = (sessions: readonly ListedSession[], width: number, now: Date): string[][] => {
  const idWidth = widest(sessions.map((session) => session.sessionId));
  const projects = hasProjects(sessions) ? [widest(['PROJECT', ...sessions.map(projectOf)]) + GAP_WIDTH] : [];
  const rootWidth = Math.max(12, width - FIXED_COLUMNS - idWidth - (projects[0] ?? 0));
  return sessions.map((session) => [
    session.sessionId,
    session.status,
    ...projects.map(() => projectOf(session)),
    `cp-${session.seq}`,
    formatTime(session.updatedAt, now),
    truncateStart(printableLine(session.projectsRoot), rootWidth),
  ]);
};

export const sessionTable = (
  sessions: readonly ListedSession[],
  paint: Paint,
  width: number,
  now: Date,
): string => {
  if (sessions.length === 0) return 'No sessions. Start one: walkback session start --root DIR\n';
  const columns = [
    { head: 'SESSION' },
    { head: 'STATUS' },
    ...(hasProjects(sessions) ? [{ head: 'PROJECT' }] : []),
    { head: 'NEWEST' },
    { head: 'UPDATED' },
    { head: 'ROOT' },
  ];
  return table(columns, sessionRows(sessions, width, now), paint);
};

const repositoryRow = (repository: StartSessionAnswer['repositories'][number], paint: Paint): string[] => [
  paint.bold(printableLine(repository.path)),
  printableLine(repository.branch ?? (repository.head === null ? '-' : 'detached')),
  repository.isLoose === true
    ? paint.dim('files in no repository')
    : paint.yellow(repository.head?.slice(0, 9) ?? 'no commit'),
  repository.head === null ? '' : plural(repository.commits, 'commit'),
];

/** The answer of `walkback session start`. */
export const startedSession = (
  answer: StartSessionAnswer,
  place: { sandboxId: string; projectsRoot: string },
  { paint, where }: { paint: Paint; where: TargetFlags },
): string => {
  const loose = answer.repositories.filter(({ isLoose }) => isLoose).length;
  const others = answer.repositories.length - loose;
  const count = [
    ...(others > 0 ? [plural(others, 'repository', 'repositories')] : []),
    ...(loose > 0 ? ['files in no repository'] : []),
  ].join(' and ');
  const columns = [{ head: 'REPOSITORY' }, { head: 'BRANCH' }, { head: 'HEAD' }, { head: '' }];
  const next = withWhere(`walkback checkpoint --session ${answer.sessionId} --message MESSAGE_ID`, where);
  return [
    `${paint.green('✔')} Session ${paint.bold(answer.sessionId)} started over ${count}.`,
    `  ${paint.dim('root')}      ${printableLine(place.projectsRoot)}`,
    `  ${paint.dim('sandbox')}   ${place.sandboxId}`,
    `  ${paint.dim('baseline')}  ${answer.checkpointId}`,
    '',
    table(
      columns,
      answer.repositories.map((repository) => repositoryRow(repository, paint)),
      paint,
    ),
    ...answer.warnings.map((warning) => paint.yellow(`! ${printableLine(warning)}`)),
    ...(loose > 0 || answer.repositories.some(({ path }) => path === '.')
      ? []
      : [paint.dim('Files beside the repositories are not captured; --loose captures them too.')]),
    `${paint.dim('next')}  ${next}`,
    '',
  ].join('\n');
};

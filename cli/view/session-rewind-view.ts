import type { RewindSessionAnswer, SessionRewind } from '../../contract/rewind.ts';
import { sagasIn, standsIn, undoneIn } from '../../core/rewind/count-effects.ts';
import { plural } from '../../core/shared/plural.ts';
import { sagaTitle } from '../../present/saga-words.ts';
import { printableLine } from '../../present/text.ts';
import type { TargetFlags } from '../target/select.ts';
import type { Paint } from '../terminal/terminal.ts';
import { withWhere } from '../where-words.ts';
import { appliedRollback, plannedRollback } from './rollback-view.ts';
import { idAndTitle, statusWord } from './saga-views.ts';
import { undoPlanLines } from './undo-plan-view.ts';

interface Look {
  to: string;
  paint: Paint;
  width: number;
}

const sagaLines = (
  { sagas, sagasNotListed }: Pick<RewindSessionAnswer, 'sagas' | 'sagasNotListed'>,
  paint: Paint,
): string[] => [
  ...sagas.flatMap(({ sagaId, status, after, plan, ...saga }) => [
    `  saga ${idAndTitle(sagaId, sagaTitle({ sagaId, ...saga }), paint)}  ${statusWord(status, paint)}${
      after === null ? '' : paint.dim(`  stays up to step ${printableLine(after)}`)
    }`,
    ...(status === 'COMPENSATION_FAILED'
      ? [
          paint.red(
            `    an effect could not be undone: the rewind stops here until walkback saga show ${sagaId} has nothing left`,
          ),
        ]
      : []),
    ...undoPlanLines(plan, paint).map((line) => `  ${line}`),
  ]),
  ...(sagasNotListed === undefined
    ? []
    : [paint.yellow(`  and ${plural(sagasNotListed.sagas, 'more saga')}, for which there is no room`)]),
];

/** For the question: effects, files in their directory, and the conversation. */
export const whatGoesBack = (
  answer: RewindSessionAnswer,
  scope: SessionRewind['scope'],
  place: string,
): string => {
  const all = scope === undefined || scope === 'all';
  const stands = standsIn(answer);
  const left = stands === 0 ? '' : ` (${plural(stands, 'effect')} will stand)`;
  return [
    ...(all || scope === 'effects'
      ? [`undo ${plural(undoneIn(answer), 'effect')} of ${plural(sagasIn(answer), 'saga')}${left}`]
      : []),
    ...(all ? [`put back all repositories in ${place}`] : []),
    ...(all || scope === 'conversation' ? ['cut the conversation there'] : []),
  ].join(', ');
};

const beginning = (answer: RewindSessionAnswer): string =>
  answer.status === 'PLANNED' ? 'rewind to' : 'the rest of a rewind that is begun, to';

/** The plan of a dry run, or what is left of a rewind that has begun. */
export const plannedSessionRewind = (answer: RewindSessionAnswer, { to, paint, width }: Look): string => {
  const { sagas, files } = answer;
  const head = `${paint.bold('Plan')}: ${beginning(answer)} ${paint.yellow(printableLine(to))}`;
  const effects = sagas.length === 0 ? [paint.dim('  no saga came after it')] : sagaLines(answer, paint);
  const written = files === undefined ? '' : plannedRollback(files, { to, paint, width });
  return `${[head, ...effects].join('\n')}\n${written}`;
};

const HEADS: Readonly<Record<RewindSessionAnswer['status'], string>> = {
  PLANNED: 'Planned: back to',
  UNDOING: 'Still undoing, and files are untouched: back goes to',
  STOPPED: 'Stopped, because an effect could not be taken back, and files are untouched: back goes to',
  REWOUND: 'Rewound to',
  CANCELLED: 'Given up by a cancel: back was to go to',
};

const nextLines = ({ status, sagas }: RewindSessionAnswer, again: string): string[] => {
  if (status !== 'STOPPED') return status === 'UNDOING' ? [`next  ${again}`] : [];
  const failed = sagas.filter((saga) => saga.status === 'COMPENSATION_FAILED');
  if (failed.length === 0) {
    return ['next  rewind again with --accept-residue and --reason, to let stand what nothing takes back'];
  }
  return [
    ...failed.map(
      ({ sagaId }) => `next  walkback saga retry ${printableLine(sagaId)}, or resolve or skip each step`,
    ),
    `then  ${again}`,
  ];
};

/** How far a rewind of a session is. */
export const sessionRewindText = (
  answer: RewindSessionAnswer,
  {
    sessionId,
    to,
    again,
    where,
    paint,
    width,
  }: Look & { sessionId: string; again: string; where: TargetFlags },
): string => {
  const { status, files, guidance, trimAfterMessageId } = answer;
  const isThrough = status === 'REWOUND';
  const mark = isThrough ? paint.green('✔ ') : '';
  const lines = [
    `${mark}${HEADS[status]} ${paint.yellow(printableLine(to))}`,
    ...sagaLines(answer, paint),
    ...nextLines(answer, again).map((line) => paint.dim(withWhere(line, where))),
    ...(isThrough && files === undefined && trimAfterMessageId != null
      ? [`  ${paint.dim(`the conversation goes on after ${printableLine(trimAfterMessageId)}`)}`]
      : []),
    ...(isThrough && guidance !== undefined
      ? [`  ${paint.bold('guidance')}  ${printableLine(guidance)}`]
      : []),
  ];
  const commandTo = (checkpointId: string): string =>
    withWhere(`walkback rollback --session ${sessionId} --to ${checkpointId}`, where);
  const back =
    files?.undoCheckpointId == null ? undefined : withWhere(`walkback undo --session ${sessionId}`, where);
  const restored =
    isThrough && files?.status === 'APPLIED'
      ? appliedRollback(files, { to, commandTo, back, paint, width })
      : '';
  return `${lines.join('\n')}\n${restored}`;
};

import type { RewindAnswer } from '../../contract/rewind.ts';
import type { RewindScope } from '../../contract/rewind-scopes.ts';
import { sagasIn, standsIn, undoneIn } from '../../core/rewind/count-effects.ts';
import { plural } from '../../core/shared/plural.ts';
import { sagaTitle } from '../../present/saga-words.ts';
import { printableLine } from '../../present/text.ts';
import type { TargetFlags } from '../target/select.ts';
import type { Paint } from '../terminal/terminal.ts';
import { withWhere } from '../where-words.ts';
import { appliedRollback, plannedRollback } from './rollback-view.ts';
import { idAndTitle, observationText, statusWord } from './saga-views.ts';
import { undoPlanLines } from './undo-plan-view.ts';

interface Look {
  /** The session, if it is one; else a saga goes back. */
  sessionId: string | undefined;
  to: string;
  paint: Paint;
  width: number;
}

const sagaLines = (
  { sagas, sagasNotListed }: Pick<RewindAnswer, 'sagas' | 'sagasNotListed'>,
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

/** For the question about a session: effects, files in their directory, and the conversation. */
export const whatGoesBack = (answer: RewindAnswer, scope: RewindScope, place: string): string => {
  const all = scope === 'all';
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

const rewindSubject = ({ sagas: [saga] }: RewindAnswer, { sessionId, to, paint }: Look): string => {
  if (sessionId !== undefined) return paint.yellow(printableLine(to));
  return saga?.after == null ? 'its beginning' : `after step ${paint.yellow(printableLine(saga.after))}`;
};

const beginning = (answer: RewindAnswer): string =>
  answer.status === 'PLANNED' ? 'rewind to' : 'the rest of a rewind that is begun, to';

/** The plan of a dry run, or what is left of a rewind that has begun. */
export const plannedRewind = (answer: RewindAnswer, look: Look): string => {
  const { sagas, files } = answer;
  const { to, paint, width } = look;
  const head = `${paint.bold('Plan')}: ${beginning(answer)} ${rewindSubject(answer, look)}`;
  const effects = sagas.length === 0 ? [paint.dim('  no saga came after it')] : sagaLines(answer, paint);
  const written = files === undefined ? '' : plannedRollback(files, { to, paint, width });
  return `${[head, ...effects].join('\n')}\n${written}`;
};

const HEADS: Readonly<Record<RewindAnswer['status'], string>> = {
  PLANNED: 'Planned: back to',
  UNDOING: 'Still undoing: back goes to',
  STOPPED: 'Stopped, because an effect could not be taken back: back goes to',
  REWOUND: 'Rewound to',
  CANCELLED: 'Given up by a cancel: back was to go to',
};

/** A saga that is repaired goes on with its rewind by itself. */
const nextLines = ({ status, sagas }: RewindAnswer, { sessionId }: Look, again: string): string[] => {
  if (status !== 'STOPPED') return status === 'UNDOING' ? [`next  ${again}`] : [];
  const failed = sagas.filter((saga) => saga.status === 'COMPENSATION_FAILED');
  if (failed.length === 0) {
    return ['next  rewind again with --accept-residue and --reason, to let stand what nothing takes back'];
  }
  return [
    ...failed.map(
      ({ sagaId }) => `next  walkback saga retry ${printableLine(sagaId)}, or resolve or skip each step`,
    ),
    ...(sessionId === undefined ? [] : [`then  ${again}`]),
  ];
};

/** How far a rewind is and, once a saga is rewound, what it is told. */
export const rewindText = (
  answer: RewindAnswer,
  look: Look & { again: string; where: TargetFlags },
): string => {
  const { sessionId, to, again, where, paint, width } = look;
  const { status, sagas, files, guidance, trimAfterMessageId } = answer;
  const isThrough = status === 'REWOUND';
  const mark = isThrough ? paint.green('✔ ') : '';
  const untouched =
    sessionId !== undefined && (status === 'UNDOING' || status === 'STOPPED') ? '; files are untouched' : '';
  const seen = sessionId === undefined ? sagas[0]?.observation : undefined;
  const lines = [
    `${mark}${HEADS[status]} ${rewindSubject(answer, look)}${untouched}`,
    ...(seen === undefined ? sagaLines(answer, paint) : []),
    ...nextLines(answer, look, again).map((line) => paint.dim(withWhere(line, where))),
    ...(isThrough && files === undefined && trimAfterMessageId != null
      ? [`  ${paint.dim(`the conversation goes on after ${printableLine(trimAfterMessageId)}`)}`]
      : []),
    ...(isThrough && seen === undefined && guidance !== undefined
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
  return `${lines.join('\n')}\n${seen === undefined ? '' : observationText(seen, paint, width)}${restored}`;
};

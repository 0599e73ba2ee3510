import type { RewindAnswer, RewoundSaga } from '../../contract/rewind.ts';
import { printableLine } from '../../present/text.ts';
import type { TargetFlags } from '../target/select.ts';
import type { Paint } from '../terminal/terminal.ts';
import { withWhere } from '../where-words.ts';
import { observationText, statusWord } from './saga-views.ts';
import { undoPlanLines } from './undo-plan-view.ts';

const placeOf = ({ sagaId, after }: RewoundSaga): string =>
  after === null
    ? `saga ${printableLine(sagaId)} to its beginning`
    : `saga ${printableLine(sagaId)} to after step ${printableLine(after)}`;

export const plannedRewind = ({ saga }: RewindAnswer, paint: Paint): string =>
  `${[`${paint.bold('Plan')}: rewind ${placeOf(saga)}`, ...undoPlanLines(saga.plan, paint)].join('\n')}\n`;

const HEADS: Readonly<Record<RewindAnswer['status'], string>> = {
  PLANNED: 'Planned',
  UNDOING: 'Still undoing: back goes',
  STOPPED: 'Stopped, because a compensator failed: back goes',
  REWOUND: 'Rewound',
  CANCELLED: 'Given up by a cancel: back was to go',
};

/** How far a rewind is and, once it is finished, what the saga is told. */
export const rewindText = (
  { status, saga }: RewindAnswer,
  { where, paint, width }: { where: TargetFlags; paint: Paint; width: number },
): string => {
  const { sagaId, plan, observation } = saga;
  const head = `${HEADS[status]} ${placeOf(saga)}  ${statusWord(saga.status, paint)}\n`;
  const rest =
    observation === undefined
      ? `${undoPlanLines(plan, paint).join('\n')}\n`
      : observationText(observation, paint, width);
  const repair = withWhere(
    `next  walkback saga retry ${printableLine(sagaId)}, or resolve or skip each step`,
    where,
  );
  return `${head}${rest}${status === 'STOPPED' ? `${paint.dim(repair)}\n` : ''}`;
};

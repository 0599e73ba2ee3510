import type { RewindAnswer } from '../../contract/rewind.ts';
import type { Paint } from '../terminal/terminal.ts';
import { printableLine } from '../terminal/text.ts';
import { observationText, statusWord } from './saga-views.ts';
import { undoPlanLines } from './undo-plan-view.ts';

type Saga = RewindAnswer['sagas'][number];

const placeOf = ({ sagaId, after }: Saga): string =>
  after === null
    ? `saga ${printableLine(sagaId)} to its beginning`
    : `saga ${printableLine(sagaId)} to after step ${printableLine(after)}`;

export const plannedRewind = ({ sagas }: RewindAnswer, paint: Paint): string =>
  `${sagas
    .flatMap((saga) => [`${paint.bold('Plan')}: rewind ${placeOf(saga)}`, ...undoPlanLines(saga.plan, paint)])
    .join('\n')}\n`;

const HEADS: Readonly<Record<RewindAnswer['status'], string>> = {
  PLANNED: 'Planned',
  UNDOING: 'Still undoing: back goes',
  STOPPED: 'Stopped, because a compensator failed: back goes',
  REWOUND: 'Rewound',
  CANCELLED: 'Given up by a cancel: back was to go',
};

/** How far a rewind is, and once it is through, what the saga is told. */
export const rewindText = (answer: RewindAnswer, paint: Paint, width: number): string =>
  answer.sagas
    .map((saga) => {
      const head = `${HEADS[answer.status]} ${placeOf(saga)}  ${statusWord(saga.status, paint)}`;
      const rest =
        saga.observation === undefined
          ? `${undoPlanLines(saga.plan, paint).join('\n')}\n`
          : observationText(saga.observation, paint, width);
      const next =
        answer.status === 'STOPPED'
          ? `${paint.dim(`next  walkback saga retry ${printableLine(saga.sagaId)}, or resolve or skip each step`)}\n`
          : '';
      return `${head}\n${rest}${next}`;
    })
    .join('');

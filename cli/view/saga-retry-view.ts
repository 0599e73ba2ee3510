/** Shows the effects that `walkback saga retry --all` would retry, and the result. */
import type { SagaStatus } from '../../contract/saga-observation.ts';
import { plural } from '../../core/shared/plural.ts';
import { printableLine } from '../../present/text.ts';
import { visibleLength } from '../terminal/columns.ts';
import type { Paint } from '../terminal/terminal.ts';
import { truncate } from '../terminal/text.ts';
import { idAndTitle, statusWord } from './saga-views.ts';

export interface RetryableSaga {
  sagaId: string;
  title: string;
  status: SagaStatus;
  steps: {
    step: string;
    tool: string;
    externalRef: string | null;
    error: { name: string; message: string };
  }[];
}

/** Least width for an error, however long the names before it are. */
const LEAST_ERROR_WIDTH = 30;

export const retryPlanText = (sagas: readonly RetryableSaga[], paint: Paint, width: number): string => {
  if (sagas.length === 0) return 'No compensation that failed or is delayed like that.\n';
  const count = sagas.reduce((sum, { steps }) => sum + steps.length, 0);
  const lines = sagas.flatMap(({ sagaId, title, status, steps }) => [
    `${idAndTitle(sagaId, title, paint)}  ${statusWord(status, paint)}`,
    ...steps.map(({ step, tool, externalRef, error }) => {
      const which = printableLine(`  ${step} ${tool}  ${externalRef ?? 'no reference'}  `);
      const room = Math.max(LEAST_ERROR_WIDTH, width - visibleLength(which));
      return `${which}${truncate(printableLine(`${error.name}: ${error.message}`), room)}`;
    }),
  ]);
  return `${lines.join('\n')}\n${plural(count, 'compensation')} in ${plural(sagas.length, 'saga')}.\n`;
};

type Untold = readonly { sagaId: string; reason: string }[];

/** Sagas for which it is not known what failed. */
export const untoldText = (untold: Untold, paint: Paint): string =>
  untold
    .map(({ sagaId, reason }) => `${printableLine(sagaId)}  ${paint.red(printableLine(reason))}\n`)
    .join('');

export const retriedText = (
  done: {
    retried: readonly { sagaId: string; status: SagaStatus }[];
    refused: Untold;
  },
  paint: Paint,
): string =>
  [
    ...done.retried.map(({ sagaId, status }) => `${printableLine(sagaId)}  ${statusWord(status, paint)}`),
    ...done.refused.map(
      ({ sagaId, reason }) => `${printableLine(sagaId)}  ${paint.red(printableLine(reason))}`,
    ),
    `${done.retried.length} retried, ${done.refused.length} not.`,
    '',
  ].join('\n');

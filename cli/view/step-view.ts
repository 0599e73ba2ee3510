import type { ParkedSagas, StepAnswer } from '../../contract/saga-answers.ts';
import { printableLine } from '../../present/text.ts';
import type { Paint } from '../terminal/terminal.ts';
import { truncate } from '../terminal/text.ts';
import { statusWord } from './saga-views.ts';

const WORDS: Record<StepAnswer['status'], string> = {
  committed: 'done',
  rejected: 'rejected, nothing happened',
  undone: 'taken back',
  awaiting: 'waits for approval',
  running: 'not settled yet; submit it again to wait',
  failed: 'could not be taken back; an operator has to look',
};

const colourOf = (status: StepAnswer['status'], paint: Paint): ((text: string) => string) => {
  if (status === 'committed') return paint.green;
  return status === 'failed' ? paint.red : paint.yellow;
};

/** What became of a submitted step. */
export const stepText = (
  { stepId, status, result, externalRef, externalUrl, error }: StepAnswer,
  paint: Paint,
  width: number,
): string => {
  const line = (text: string): string => `    ${truncate(printableLine(text), width - 4)}`;
  const lines = [
    `Step ${paint.bold(printableLine(stepId))}  ${colourOf(status, paint)(WORDS[status])}`,
    ...(externalRef === undefined ? [] : [`    ${printableLine(externalRef)}`]),
    ...(externalUrl === undefined ? [] : [`    ${printableLine(externalUrl)}`]),
    ...(result === undefined ? [] : [line(JSON.stringify(result))]),
    ...(error === undefined ? [] : [line(`${error.name}: ${error.message}`)]),
  ];
  return `${lines.join('\n')}\n`;
};

/** Which sagas were put aside, and where the files are. */
export const parkedText = ({ sagas, checkpointId }: ParkedSagas, paint: Paint): string => {
  const lines = sagas.map(({ sagaId, status, error }) => {
    const why = error === undefined ? '' : `  ${printableLine(`${error.name}: ${error.message}`)}`;
    return `Saga ${paint.bold(printableLine(sagaId))}  ${statusWord(status, paint)}${why}`;
  });
  const none = lines.length === 0 ? [paint.dim('no interactive saga to park')] : lines;
  const saved = checkpointId === undefined ? [] : [`Files  ${checkpointId}`];
  return `${[...none, ...saved].join('\n')}\n`;
};

/**
 * The view of `walkback bisect`. Its text comes from a sandbox or a model, so it is made printable first.
 */
import type { BisectSessionAnswer, SearchProgress, Suspect, TriedCheckpoint } from '../../contract/bisect.ts';
import type { ChangesAnswer } from '../../contract/change-answers.ts';
import { callWords, endWords, foundWords, pointWords, suspectTitle } from '../../present/bisect-words.ts';
import { printable, printableLine } from '../../present/text.ts';
import { table } from '../terminal/table.ts';
import type { Paint } from '../terminal/terminal.ts';
import { formatDuration } from '../terminal/text.ts';
import { changesText } from './changes-view.ts';

const verdictText = (verdict: TriedCheckpoint['verdict'], paint: Paint): string => {
  switch (verdict) {
    case 'good':
      return paint.green('good');
    case 'bad':
      return paint.red('bad');
    case 'skipped':
      return paint.yellow('skipped');
  }
};

const pointText = (one: Pick<TriedCheckpoint, 'sessionId' | 'checkpointId'>, of: string): string =>
  printableLine(pointWords(one, of));

const triedTable = ({ tried, sessionId }: BisectSessionAnswer, paint: Paint): string =>
  table(
    [{ head: 'TRIED' }, { head: 'VERDICT' }, { head: 'ENDED' }, { head: 'TOOK', align: 'right' }],
    tried.map((one) => [
      pointText(one, sessionId),
      verdictText(one.verdict, paint),
      printableLine(endWords(one)),
      formatDuration(one.milliseconds),
    ]),
    paint,
  ).trimEnd();

/** The output of the command at one checkpoint, in a search of the session `of`. */
export const outputLines = (
  one: Pick<
    SearchProgress['tried'][number],
    'sessionId' | 'checkpointId' | 'verdict' | 'exitCode' | 'note' | 'output'
  >,
  of: string,
  paint: Paint,
): string[] => {
  const output = printable(one.output ?? '').trimEnd();
  return [
    `${verdictText(one.verdict, paint)} at ${pointText(one, of)}: ${printableLine(endWords(one))}`,
    ...(output === '' ? [paint.dim('    no output')] : output.split('\n').map((line) => `    ${line}`)),
  ];
};

const suspectLines = (suspect: Suspect, of: string, paint: Paint): string[] => {
  const { messageId } = suspect;
  const who = messageId === null ? '' : ` of ${paint.yellow(printableLine(messageId))}`;
  const title = suspectTitle(suspect);
  const call = callWords(suspect);
  return [
    `  ${paint.bold(pointText(suspect, of))}${who}${title === messageId ? '' : `  ${printableLine(title)}`}`,
    ...(call === '' ? [] : [`    ${printableLine(call)}`]),
  ];
};

/** `changes`: what the found checkpoint changed. */
export const bisectText = (
  answer: BisectSessionAnswer,
  changes: ChangesAnswer | undefined,
  paint: Paint,
): string => {
  const { sessionId, outcome, suspects, suspectsNotListed, through, good, bad, note } = answer;
  const mark = outcome === 'found' ? paint.green('✔') : paint.yellow('!');
  return `${[
    `${mark} ${printableLine(foundWords(answer))}`,
    ...suspects.flatMap((suspect) => suspectLines(suspect, sessionId, paint)),
    ...(suspectsNotListed === undefined ? [] : [paint.dim(`  and ${suspectsNotListed} more`)]),
    ...through.flatMap((merge) => [paint.dim('  brought by'), ...suspectLines(merge, sessionId, paint)]),
    ...(note === undefined ? [] : [paint.yellow(`  ! ${printableLine(note)}`)]),
    '',
    ...outputLines(good, sessionId, paint),
    ...outputLines(bad, sessionId, paint),
    '',
    triedTable(answer, paint),
    ...(changes === undefined ? [] : ['', changesText(changes, paint, false).trimEnd()]),
  ].join('\n')}\n`;
};

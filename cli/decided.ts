/**
 * A plan is shown first and the act comes later, in the same command or the next. Both must be in one epoch
 * of the session.
 */
import { Option } from 'commander';
import { parseWholeNumber } from './options.ts';
import type { Paint } from './terminal/terminal.ts';

export const epochOption = (when = ''): Option =>
  new Option(
    '--epoch <n>',
    `${when}refuse if the session was rolled back, merged into or resumed since this epoch`,
  ).argParser(parseWholeNumber(1, 1e9));

/** The line below the plan of a dry run. `from`: for a merge, the checkpoint whose work comes. */
export const decidedLine = (epoch: number | undefined, paint: Paint, from?: string): string => {
  if (epoch === undefined) return '';
  const words = [...epochWords(epoch), ...fromWords(from)].join(' ');
  const when = `somebody moved the session${from === undefined ? ' meanwhile' : ', or more work would come by then'}`;
  return `${paint.dim(`  epoch ${epoch}: with ${words} it is refused when ${when}`)}\n`;
};

export const epochWords = (epoch: number | undefined): string[] =>
  epoch === undefined ? [] : ['--epoch', String(epoch)];

export const fromWords = (checkpointId: string | undefined): string[] =>
  checkpointId === undefined ? [] : ['--from-checkpoint', checkpointId];

/** A plan that is shown and an act that comes later, by the same command or the next: both are of one epoch of the session. */
import { Option } from 'commander';
import { parseWholeNumber } from './options.ts';
import type { Paint } from './terminal/terminal.ts';

export const epochOption = (when = ''): Option =>
  new Option(
    '--epoch <n>',
    `${when}refuse if the session was rolled back, merged into or resumed since this epoch`,
  ).argParser(parseWholeNumber(1, 1e9));

/** Below the plan of a dry run. */
export const decidedLine = (epoch: number | undefined, paint: Paint): string =>
  epoch === undefined
    ? ''
    : `${paint.dim(`  epoch ${epoch}: with --epoch ${epoch} it is refused when somebody moved the session meanwhile`)}\n`;

export const epochWords = (epoch: number | undefined): string[] =>
  epoch === undefined ? [] : ['--epoch', String(epoch)];

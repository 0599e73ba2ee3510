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

export const residueOption = (): Option =>
  new Option(
    '--residue <text>',
    'with --accept-residue: refuse if something else stands by now than in the plan that said this',
  );

/** Below the plan of a dry run in which something stands. */
export const residueLine = (residue: string | undefined, stands: number, paint: Paint): string => {
  if (residue === undefined || stands === 0) return '';
  const words = ['--accept-residue', ...residueWords(residue)].join(' ');
  return `${paint.dim(`  what stands: with ${words} it stays, and it is refused when something else stands by then`)}\n`;
};

export const residueWords = (residue: string | undefined): string[] =>
  residue === undefined ? [] : ['--residue', residue];

export const epochWords = (epoch: number | undefined): string[] =>
  epoch === undefined ? [] : ['--epoch', String(epoch)];

export const fromWords = (checkpointId: string | undefined): string[] =>
  checkpointId === undefined ? [] : ['--from-checkpoint', checkpointId];

import type { Paint } from '../terminal/terminal.ts';
import { printableLine } from '../terminal/text.ts';

/** A line, and below it where the provider shows what it tells of: a link of its own line can be clicked and copied. */
export const withLink = (line: string, externalUrl: string | undefined, paint: Paint): string[] =>
  externalUrl === undefined ? [line] : [line, paint.dim(`    ${printableLine(externalUrl)}`)];

import { printableLine } from '../../present/text.ts';
import type { Paint } from '../terminal/terminal.ts';

/**
 * A line, and below it the address where the provider shows the effect. On a line of its own, a link can be
 * clicked and copied.
 */
export const withLink = (line: string, externalUrl: string | undefined, paint: Paint): string[] =>
  externalUrl === undefined ? [line] : [line, paint.dim(`    ${printableLine(externalUrl)}`)];

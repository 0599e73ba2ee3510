/** Shows checks, each with what was found and what to do. */

import { printableLine } from '../../present/text.ts';
import type { Check } from '../doctor/check.ts';
import type { Paint } from '../terminal/terminal.ts';
import { padEnd, widest } from '../terminal/text.ts';

export const checksText = (checks: readonly Check[], paint: Paint): string => {
  const width = widest(checks.map(({ id }) => id));
  const lines = checks.flatMap(({ id, ok, found, advice }) => [
    `${ok ? paint.green('✔') : paint.red('✖')} ${padEnd(id, width)}  ${printableLine(found)}`,
    ...(ok ? [] : [`  ${padEnd('', width)}  ${paint.yellow(printableLine(advice))}`]),
  ]);
  return `${lines.join('\n')}\n`;
};

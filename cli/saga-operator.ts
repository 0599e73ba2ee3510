import { CliError } from './failure.ts';
import type { Terminal } from './terminal/terminal.ts';

/** The operator's name for the ledger: the given one, else the user of this machine. */
export const operatorOf = ({ env }: Terminal, given?: string): string => {
  const who = given ?? env['WALKBACK_OPERATOR'] ?? env['USER'] ?? env['LOGNAME'] ?? '';
  if (who.trim() !== '') return who.trim();
  throw new CliError('InvalidInput', 'Nobody to write into the ledger.', {
    hint: 'say who you are with --by',
  });
};

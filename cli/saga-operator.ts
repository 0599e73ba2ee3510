import { CliError } from './failure.ts';
import type { Terminal } from './terminal/terminal.ts';

/** The operator's name for the ledger: the given one, else the user of this machine. */
export const operatorOf = ({ env, user }: Terminal, given?: string): string => {
  const known = [env['WALKBACK_OPERATOR'], env['USER'], env['LOGNAME'], user];
  const who = (given === undefined ? known : [given])
    .map((name) => name?.trim() ?? '')
    .find((name) => name !== '');
  if (who !== undefined) return who;
  throw new CliError('InvalidInput', 'Nobody to write into the ledger: no name of yours is known here.', {
    hint: 'say who you are with --by, or export WALKBACK_OPERATOR=NAME',
  });
};

import { printableLine } from '../present/text.ts';
import type { Run } from './app.ts';
import { CliError } from './failure.ts';

const sameName = (one: string, other: string): boolean =>
  one.trim().toLowerCase() === other.trim().toLowerCase();

/** Who asks or acts, for the ledger: the signed-in person, else the given name, else the user of this machine. */
export const operatorOf = (
  { terminal: { env, user }, person }: Pick<Run, 'terminal' | 'person'>,
  given?: string,
): string => {
  if (person !== undefined) {
    if (given === undefined || sameName(given, person)) return person;
    throw new CliError(
      'InvalidInput',
      `--by names ${printableLine(given)}, but ${printableLine(person)} is signed in.`,
      { hint: 'leave out --by, or walkback logout first' },
    );
  }
  const known = [env['WALKBACK_OPERATOR'], env['USER'], env['LOGNAME'], user];
  const who = (given === undefined ? known : [given])
    .map((name) => name?.trim() ?? '')
    .find((name) => name !== '');
  if (who !== undefined) return who;
  throw new CliError('InvalidInput', 'Nobody to write into the ledger: no name of yours is known here.', {
    hint: 'say who you are with --by, or export WALKBACK_OPERATOR=NAME',
  });
};

/**
 * A plan is shown first and the act comes later, in the same command or the next. Both must be in one epoch
 * of the session, and mean one checkpoint of a message.
 */
import { Option } from 'commander';
import { CliError } from './failure.ts';
import { parseId, parseWholeNumber } from './options.ts';
import type { Paint } from './terminal/terminal.ts';

export const epochOption = (when = ''): Option =>
  new Option(
    '--epoch <n>',
    `${when}refuse if the session was rolled back, merged into or resumed since this epoch`,
  ).argParser(parseWholeNumber(1, 1e9));

export const checkpointOption = (): Option =>
  new Option(
    '--checkpoint <id>',
    'with a message as --to: this checkpoint of it, as the plan showed, also when it has a newer one by now',
  ).argParser(parseId);

type Target = { messageId: string; checkpointId?: string } | { messageId?: never; checkpointId: string };

/** The target that `--to` names, with the checkpoint that its plan showed. */
export const plannedAt = (target: Target, checkpointId: string | undefined): Target => {
  if (checkpointId === undefined) return target;
  if (target.messageId !== undefined) return { messageId: target.messageId, checkpointId };
  if (target.checkpointId === checkpointId) return target;
  throw new CliError(
    'InvalidInput',
    '--checkpoint goes with a message as --to, and --to names another checkpoint.',
  );
};

export const checkpointWords = (checkpointId: string | undefined): string[] =>
  checkpointId === undefined ? [] : ['--checkpoint', checkpointId];

export const residueOption = (): Option =>
  new Option(
    '--residue <text>',
    'with --accept-residue: refuse if something else stands by now than in the plan that said this',
  );

export const reasonOption = (): Option =>
  new Option('--reason <text>', 'with --accept-residue: why it may stay; goes into the ledger');

interface Accepting {
  acceptResidue?: boolean;
  residue?: string;
  reason?: string;
  dryRun?: boolean;
}

/**
 * What a request accepts. Throws `InvalidInput` when a plan's residue is given, and not that it may stay, and
 * when nobody says why it may.
 */
export const acceptedIn = ({ acceptResidue, residue, reason = '', dryRun }: Accepting) => {
  if (residue !== undefined && acceptResidue !== true)
    throw new CliError('InvalidInput', '--residue says what stands: give it with --accept-residue.');
  if (acceptResidue === true && dryRun !== true && reason.trim() === '')
    throw new CliError('InvalidInput', '--accept-residue needs a reason.', {
      hint: 'say why it may stay: --reason "..."',
    });
  return {
    ...(acceptResidue === true ? { acceptResidue: true } : {}),
    ...(residue === undefined ? {} : { residue }),
  };
};

/** Below the plan of a dry run in which something stands. */
export const residueLine = (residue: string | undefined, stands: number, paint: Paint): string => {
  if (residue === undefined || stands === 0) return '';
  const words = ['--accept-residue', ...residueWords(residue), '--reason "..."'].join(' ');
  return `${paint.dim(`  what stands: with ${words} it stays, and it is refused when something else stands by then`)}\n`;
};

export const residueWords = (residue: string | undefined): string[] =>
  residue === undefined ? [] : ['--residue', residue];

export const epochWords = (epoch: number | undefined): string[] =>
  epoch === undefined ? [] : ['--epoch', String(epoch)];

export const fromWords = (checkpointId: string | undefined): string[] =>
  checkpointId === undefined ? [] : ['--from-checkpoint', checkpointId];

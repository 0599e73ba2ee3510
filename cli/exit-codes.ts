import { errorRow } from '../contract/errors.ts';
import { EXIT_CODES } from '../contract/exit-codes.ts';

/** The exit code for an error of this literal name; a name that is not ours is a plain failure. */
export const exitCodeFor = (errorName: string): number =>
  EXIT_CODES[errorRow(errorName)?.exitCode ?? 'failed'].code;

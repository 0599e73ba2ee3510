import { errorRow } from '../contract/errors.ts';
import { EXIT_CODES } from '../contract/exit-codes.ts';

/** The exit code for an error of this literal name. A name that is not ours gives the plain failure code. */
export const exitCodeFor = (errorName: string): number =>
  EXIT_CODES[errorRow(errorName)?.exitCode ?? 'failed'].code;

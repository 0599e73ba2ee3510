/** Text as one word of a POSIX shell. Pure. */
import { WalkbackError } from '../../core/shared/errors.ts';

/** Byte for byte. Throws `InvalidInput` for NUL, which cannot be in a shell word. */
export const shellQuote = (text: string): string => {
  if (text.includes('\0'))
    throw new WalkbackError('InvalidInput', 'A path or pattern contains a NUL character. Remove it.');
  return /^[A-Za-z0-9_./:=@%+-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
};

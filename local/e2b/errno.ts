/** Words an error of the system as E2B's daemon does, which is written in Go. */
import { getSystemErrorMap } from 'node:util';

/** Errors for which Go's words differ from Node's. */
const WORDS: Record<string, string> = {
  ELOOP: 'too many levels of symbolic links',
  EISDIR: 'is a directory',
  EEXIST: 'file exists',
  ENAMETOOLONG: 'file name too long',
  EXDEV: 'invalid cross-device link',
  EBUSY: 'device or resource busy',
};

export const codeOf = (error: unknown): string | undefined =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;

export const isMissing = (error: unknown): boolean => codeOf(error) === 'ENOENT';

export const words = (error: unknown): string => {
  const known = WORDS[codeOf(error) ?? ''];
  if (known !== undefined) return known;
  const number = error instanceof Error && 'errno' in error ? Number(error.errno) : Number.NaN;
  const [, message] = getSystemErrorMap().get(number) ?? [];
  if (message !== undefined) return message;
  return error instanceof Error ? error.message : String(error);
};

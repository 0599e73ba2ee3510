/** On a full disk the embedded cloud fails in many ways. The person is told this one reason. */
import { statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import { ERRORS, isErrorName } from '../../contract/errors.ts';
import { formatBytes } from '../../present/text.ts';
import { CliError, describeFailure } from '../failure.ts';

/** A database and a capture need more than this. */
const LEAST_BYTES = 8 * 1024 ** 2;

/** Free bytes where the directory is, or will be; undefined when not known. */
const freeBytesAt = async (path: string): Promise<number | undefined> => {
  try {
    const { blocks, bavail, bsize } = await statfs(path);
    // Not a disk: /proc has no room at all.
    return blocks === 0 ? undefined : bavail * bsize;
  } catch {
    return dirname(path) === path ? undefined : freeBytesAt(dirname(path));
  }
};

/** Whether a full disk can be the reason. A refusal would also happen on an empty disk. */
const mayBeOfDisk = (name: string): boolean => !isErrorName(name) || ERRORS[name].kind === 'fault';

/** The error to throw: with the full disk as its hint, when that may be the reason. */
const withFullDisk = async (dataDir: string, error: unknown): Promise<unknown> => {
  const { name, message } = describeFailure(error);
  if (!mayBeOfDisk(name)) return error;
  const free = await freeBytesAt(dataDir);
  if (free === undefined || free >= LEAST_BYTES) return error;
  const left = free === 0 ? 'nothing is left' : `${formatBytes(free)} are left`;
  return new CliError(name, message, {
    cause: error,
    hint: `the disk of ${dataDir} is full, ${left}: make room (walkback clean --dry-run says what can go), then the same call again`,
  });
};

/** Does the work, and mentions a full disk when it failed. */
export const tellingFullDisk = async <T>(dataDir: string, work: () => Promise<T>): Promise<T> => {
  try {
    return await work();
  } catch (error) {
    throw await withFullDisk(dataDir, error);
  }
};

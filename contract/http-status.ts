/** The HTTP status of every error: derived from what the list of errors says about it. */
import { errorRow } from './errors.ts';
import type { ExitCodeName } from './exit-codes.ts';

const OF_REFUSALS: Readonly<Partial<Record<ExitCodeName, number>>> = {
  usage: 400,
  notFound: 404,
  unavailable: 503,
};

/** A fault that may pass is 503. Any other one, and a name that is not ours, is 502. */
export const httpStatusOf = (name: string): number => {
  const row = errorRow(name);
  if (row === undefined) return 502;
  if (row.httpStatus !== undefined) return row.httpStatus;
  if (row.kind === 'refusal') return OF_REFUSALS[row.exitCode] ?? 409;
  return row.exitCode === 'unavailable' ? 503 : 502;
};

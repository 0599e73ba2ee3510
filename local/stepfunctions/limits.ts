/** The limits of Step Functions, with its error messages. Sizes are of JSON text in UTF-8. */

/** Input and output of executions, states and tasks. */
export const MAX_DATA_BYTES = 256 * 1024;

/** Most events of one execution. The last one can only be its end. */
export const MAX_HISTORY_EVENTS = 25_000;

/** Longest name and cause of an error, as SendTaskFailure accepts them. */
export const MAX_ERROR_LENGTH = 256;
export const MAX_CAUSE_LENGTH = 32_768;

export const DATA_LIMIT_EXCEEDED = 'States.DataLimitExceeded';

export const isOverDataLimit = (text: string): boolean => Buffer.byteLength(text) > MAX_DATA_BYTES;

export const dataLimitCause = (state: string, what: 'returned a result' | 'provided parameters'): string =>
  `The state/task '${state}' ${what} with a size exceeding the maximum number of bytes service limit.`;

export const HISTORY_LIMIT = {
  error: 'States.Runtime',
  cause: `The execution reached the maximum number of history events (${MAX_HISTORY_EVENTS}).`,
};

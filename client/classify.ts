/**
 * Says which calls of tools change nothing (K2). Conservative: what is not known to be a read is a write, because a
 * checkpoint too many costs a moment, and one too few loses work.
 */

/** Tools of known hosts that only read, by the name that the host calls them. */
const READS = new Set(['Read', 'Glob', 'Grep', 'LS', 'WebFetch', 'WebSearch']);

/** Whether a call of this name with this input changes nothing. */
export const isReadOnly = (name: string, _input?: unknown): boolean => READS.has(name);

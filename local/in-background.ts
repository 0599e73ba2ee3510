/**
 * Runs work that nobody awaits. A rejection without a handler would end the process, and with it every
 * service of the cloud.
 */
import type { Log } from '../core/shared/surroundings.ts';

/** Starts the work, and logs its failure. */
export const inBackground = (log: Log, what: string, work: () => Promise<unknown>): void => {
  // oxlint-disable-next-line typescript/no-floating-promises -- cannot reject: the failure is told here
  Promise.try(work).catch((error: unknown) => log.warn(`${what} failed`, { error: String(error) }));
};

/** Makes a promise safe to drop: if its receiver drops it, a rejection is ignored. */
export const mayBeDropped = <T>(promise: Promise<T>): Promise<T> => {
  promise.catch(() => undefined);
  return promise;
};

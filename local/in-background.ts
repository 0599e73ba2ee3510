/** Work that nobody awaits. A rejection without a handler ends the process, and with it every service of the cloud. */
import type { Log } from '../core/shared/surroundings.ts';

/** Starts it, and tells the log when it fails. */
export const inBackground = (log: Log, what: string, work: () => Promise<unknown>): void => {
  // oxlint-disable-next-line typescript/no-floating-promises -- cannot reject: the failure is told here
  Promise.try(work).catch((error: unknown) => log.warn(`${what} failed`, { error: String(error) }));
};

/** A promise that is handed to somebody who may drop it: its rejection is then nobody's. */
export const mayBeDropped = <T>(promise: Promise<T>): Promise<T> => {
  promise.catch(() => undefined);
  return promise;
};

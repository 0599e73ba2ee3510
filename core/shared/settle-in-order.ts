import type { Log } from './surroundings.ts';

/**
 * Settles changes of a stream one after the other. Answers the index of the first that could not be
 * settled. It and all after it are delivered again, so that no consumer sees a later change before an
 * earlier one.
 */
export const settleInOrder = async <Change extends { id: string }>(
  changes: readonly Change[],
  settle: (change: Change) => Promise<void>,
  log: Log,
): Promise<number | undefined> => {
  for (const [index, change] of changes.entries()) {
    try {
      await settle(change);
    } catch (error) {
      log.warn('change not published', { index, id: change.id, reason: String(error) });
      return index;
    }
  }
  return undefined;
};

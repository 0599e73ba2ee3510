/** Works through changes of the table in their order: tells the outside, and deletes bundles nobody names any more. */

import type { Events, Log } from '../../shared/surroundings.ts';
import type { BundleStore, SessionStore } from '../ports/stores.ts';
import { eventsOf, type ItemChange, removedBundle } from './session-events.ts';

export const createPublishChanges = (deps: {
  store: SessionStore;
  bundles: BundleStore;
  events: Events;
  log: Log;
}) => {
  const { store, bundles, events, log } = deps;

  /**
   * Whether the table, read now, names the bundle again: an item that expired may have been written anew before its
   * removal got here.
   */
  const isNamed = async (removed: NonNullable<ReturnType<typeof removedBundle>>): Promise<boolean> => {
    if (removed.kind === 'base') return (await store.getBase(removed.name))?.key === removed.bundle.key;
    const links = await store.listLinks(removed.sessionId, removed.chainId);
    return links.some(({ bundle }) => bundle.key === removed.bundle.key);
  };

  const settle = async (change: ItemChange): Promise<void> => {
    const told = eventsOf(change);
    if (told.length > 0) await events.publish(told);
    const removed = removedBundle(change);
    if (removed === undefined || (await isNamed(removed))) return;
    await bundles.delete([removed.bundle.key]);
    log.info('bundle deleted', { key: removed.bundle.key });
  };

  /** Index of the first change that could not be settled: it and all after it are to be delivered again. */
  return async (changes: readonly ItemChange[]): Promise<number | undefined> => {
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
};

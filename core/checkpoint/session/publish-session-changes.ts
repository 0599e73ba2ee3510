/**
 * Works through changes of the table in order: publishes events, and deletes bundles that no item names any
 * more.
 */

import type { EventBus } from '../../shared/events.ts';
import { settleInOrder } from '../../shared/settle-in-order.ts';
import type { Log } from '../../shared/surroundings.ts';
import type { BundleStore, SessionStore } from '../ports/stores.ts';
import { eventsOf, type ItemChange, type RemovedObject, removedObject } from './session-events.ts';

export const createPublishSessionChanges = (deps: {
  store: SessionStore;
  bundles: BundleStore;
  events: EventBus;
  log: Log;
}) => {
  const { store, bundles, events, log } = deps;

  /**
   * Whether the table, read now, names the object. Most uploads were later named by an item, and an expired
   * item may have been written again before its removal arrived here.
   */
  const isNamed = async ({ key, place }: RemovedObject): Promise<boolean> => {
    if ((await store.getUpload(key)) !== undefined) return true;
    if ('contentOf' in place || 'linksOf' in place) return false;
    if ('base' in place) return (await store.getBase(place.base, place.owner))?.key === key;
    const links = await store.listLinks(place.sessionId, place.chainId);
    return links.some(({ bundle }) => bundle.key === key);
  };

  const settle = async (change: ItemChange): Promise<void> => {
    const told = eventsOf(change);
    if (told.length > 0) await events.publish(told);
    const removed = removedObject(change);
    if (removed === undefined || (await isNamed(removed))) return;
    await bundles.delete([removed.key]);
    log.info('bundle deleted', { key: removed.key });
  };

  return (changes: readonly ItemChange[]): Promise<number | undefined> => settleInOrder(changes, settle, log);
};

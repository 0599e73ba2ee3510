/**
 * Keeps the words of new checkpoints for those who search, as the table's stream tells of them. Nothing else waits for it, so
 * the words of the last seconds may be missing. The texts never reach logs.
 */
import { WalkbackError } from '../../shared/errors.ts';
import { RACE, retrying } from '../../shared/retry.ts';
import type { Clock, Log } from '../../shared/surroundings.ts';
import type { Checkpoint } from '../model.ts';
import type { BundleStore } from '../ports/stores.ts';
import type { WordStore } from '../ports/words.ts';
import type { ItemChange } from '../session/session-events.ts';
import { withEntries } from './block.ts';
import { needsObject, type WordEntry, wordEntry } from './entry.ts';

export const createKeepWords = (deps: {
  words: Pick<WordStore, 'newestBlock' | 'putBlock'>;
  bundles: Pick<BundleStore, 'get'>;
  clock: Clock;
  log: Log;
}) => {
  const { words, bundles, clock, log } = deps;

  /** Undefined: it is gone, or not what was stored. Then the words of the item alone are kept. */
  const contentOf = async (checkpoint: Checkpoint): Promise<Uint8Array | undefined> => {
    const { content } = checkpoint;
    if (content?.object === undefined || !needsObject(checkpoint)) return undefined;
    try {
      return await bundles.get(content.object);
    } catch (error) {
      if (error instanceof WalkbackError && !error.retryable) return undefined;
      throw error;
    }
  };

  const entryOf = async (checkpoint: Checkpoint) => {
    const object = await contentOf(checkpoint);
    try {
      return wordEntry(checkpoint, object);
    } catch {
      log.warn('words of a content that cannot be read are not kept', {
        checkpointId: checkpoint.checkpointId,
      });
      return wordEntry(checkpoint, undefined);
    }
  };

  /** Another call may write the same session: a batch that comes again while its first delivery still works. */
  const keep = async (sessionId: string, entries: readonly WordEntry[]): Promise<void> => {
    const write = async (): Promise<true | undefined> => {
      const newest = await words.newestBlock(sessionId);
      const kept = { sessionId, updatedAt: clock.now().toISOString() };
      for (const { block, expectedVersion } of withEntries(newest, kept, entries)) {
        if (!(await words.putBlock(block, expectedVersion))) return undefined;
      }
      return true;
    };
    if ((await retrying(RACE, clock, write)) !== undefined) return;
    throw new WalkbackError('Throttled', 'Others write the words of this session. Call again.', {
      retryable: true,
    });
  };

  /** By session, in order, with the place of each in the batch. */
  const created = (
    changes: readonly ItemChange[],
  ): Map<string, { checkpoint: Checkpoint; index: number }[]> => {
    const found = new Map<string, { checkpoint: Checkpoint; index: number }[]>();
    for (const [index, { before, after }] of changes.entries()) {
      // A later change of the item only prolongs its life.
      if (before !== undefined || after?.kind !== 'checkpoint') continue;
      const { sessionId } = after.item;
      const one = { checkpoint: after.item, index };
      found.set(sessionId, [...(found.get(sessionId) ?? []), one]);
    }
    return found;
  };

  /** Answers the index of the first change whose words could not be kept. It and all after it are told again. */
  return async (changes: readonly ItemChange[]): Promise<number | undefined> => {
    const failed: number[] = [];
    for (const [sessionId, all] of created(changes)) {
      try {
        const entries: WordEntry[] = [];
        for (const { checkpoint } of all) entries.push(await entryOf(checkpoint));
        await keep(sessionId, entries);
      } catch (error) {
        const index = all[0]?.index ?? 0;
        log.warn('words not kept', { sessionId, index, reason: String(error) });
        failed.push(index);
      }
    }
    return failed.length === 0 ? undefined : Math.min(...failed);
  };
};

/**
 * Proves, before a rollback begins, that the store has what the target needs. Each object is asked for its
 * checksum; S3 answers the checksum of the bytes that it received. The content is read as well where that
 * costs no more, or where the sandbox must get it from the store.
 */
import pLimit from 'p-limit';
import { GIB } from '../../../contract/sizes.ts';
import { isWalkbackError, type WalkbackError } from '../../shared/errors.ts';
import type { Checkpoint, RepositoryState } from '../model.ts';
import type { BundleStore, SessionStore } from '../ports/stores.ts';
import { createNeededBundles, type NeededBundle, PARALLEL } from './needed-bundles.ts';

/** Reading an object up to this size takes as long as asking for its checksum. */
const SMALL_BYTES = 64 * 1024;
/** Limit for the larger ones together: about 10 seconds. The rest is proved by its checksum. */
const READ_BYTES = GIB;
/** Number of larger objects that are read at the same time. */
const STREAMS = 4;

/**
 * The bundles whose content is read. The sandbox already has the bundles of a checkpoint that was taken in
 * it, and those of the checkpoint that it stands on.
 */
export const bundlesToRead = (
  needed: readonly NeededBundle[],
  inSandbox: readonly NeededBundle[] | 'all',
): Set<NeededBundle> => {
  const has = new Set(inSandbox === 'all' ? [] : inSandbox.map(({ bundle }) => bundle.key));
  const chosen = new Set<NeededBundle>();
  let total = 0;
  for (const one of needed.toSorted((a, b) => a.bundle.sizeBytes - b.bundle.sizeBytes)) {
    const { key, sizeBytes } = one.bundle;
    const isHere = inSandbox === 'all' || has.has(key);
    if (sizeBytes > SMALL_BYTES) {
      if (isHere || total + sizeBytes > READ_BYTES) continue;
      total += sizeBytes;
    }
    chosen.add(one);
  }
  return chosen;
};

export const createTargetBundles = (deps: { store: SessionStore; bundles: BundleStore }) => {
  const { store } = deps;
  const { list, prove, read } = createNeededBundles(deps);

  const proveAll = async (
    needed: readonly NeededBundle[],
    toRead: ReadonlySet<NeededBundle>,
  ): Promise<void> => {
    const requests = pLimit(PARALLEL);
    const streams = pLimit(STREAMS);
    await Promise.all(
      needed.map((one) => {
        if (!toRead.has(one)) return requests(() => prove(one));
        return (one.bundle.sizeBytes > SMALL_BYTES ? streams : requests)(() => read(one));
      }),
    );
  };

  /** The bundles that the sandbox certainly has. Where this is not known, more bundles are read. */
  const inSandbox = async (
    target: Checkpoint,
    sandboxId: string,
    headSeq: number,
  ): Promise<readonly NeededBundle[] | 'all'> => {
    if (target.sandboxId === sandboxId) return 'all';
    const head = await store.getCheckpoint(target.sessionId, headSeq);
    const captured = head?.repositories.filter(({ state }) => state === 'captured') ?? [];
    return list(target.sessionId, captured).catch(() => []);
  };

  /**
   * The first problem with what the store has of a target, or undefined when all of it is intact. `lacking`:
   * the states that the sandbox does not have, when it was asked; only these are then looked at.
   */
  return async (
    target: Checkpoint,
    of: { sandboxId: string; headSeq: number } | { lacking: readonly RepositoryState[] },
  ): Promise<WalkbackError | undefined> => {
    try {
      const [needed, has] = await Promise.all([
        list(target.sessionId, 'lacking' in of ? of.lacking : target.repositories),
        'lacking' in of ? [] : inSandbox(target, of.sandboxId, of.headSeq),
      ]);
      await proveAll(needed, bundlesToRead(needed, has));
      return undefined;
    } catch (error) {
      if (isWalkbackError(error, 'BundleMissing') || isWalkbackError(error, 'BundleCorrupt')) return error;
      throw error;
    }
  };
};

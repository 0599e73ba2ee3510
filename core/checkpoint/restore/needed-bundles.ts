/**
 * Finds the bundles that captures depend on, as the table names them, and checks whether the store still
 * has them unchanged.
 */
import { isWalkbackError, WalkbackError } from '../../shared/errors.ts';
import type { LinkBundle } from '../bundles.ts';
import { linksTo } from '../capture/chain.ts';
import type { RepositoryState } from '../model.ts';
import type { BundleStore, SessionStore } from '../ports/stores.ts';
import { linksHashOf } from '../session/keys.ts';
import { baseBelow } from '../session/retention.ts';

/** Number of requests to the store at the same time. */
export const PARALLEL = 32;

export interface NeededBundle {
  path: string;
  kind: 'base' | 'link';
  bundle: LinkBundle;
}

const damaged = (name: 'BundleMissing' | 'BundleCorrupt', key: string, why: string): WalkbackError =>
  new WalkbackError(
    name,
    `The bundle ${key} ${why}, so the checkpoint cannot be restored. Nothing was changed. Choose another checkpoint.`,
    { details: { key } },
  );

export const createNeededBundles = (deps: { store: SessionStore; bundles: BundleStore }) => {
  const { store, bundles } = deps;

  const listNeeded = async (
    sessionId: string,
    state: RepositoryState,
    after: string | undefined,
  ): Promise<NeededBundle[]> => {
    const { path, commit, chainId, link: place = 0, base: name } = state;
    if (commit === undefined || chainId === undefined) return [];
    const [links, base] = await Promise.all([store.listLinks(sessionId, chainId), baseBelow(store, state)]);
    if (name !== undefined && base === undefined)
      throw damaged('BundleMissing', `of base ${name}`, 'is not stored any more');
    const before = linksTo(links, chainId, { commit, link: place });
    const chain = before.map((link): NeededBundle => ({ path, kind: 'link', bundle: link.bundle }));
    const known = before.findLastIndex((link) => link.commit === after);
    if (known >= 0) return chain.slice(known + 1);
    return base === undefined ? chain : [{ path, kind: 'base', bundle: base }, ...chain];
  };

  /**
   * `after`: a commit that is there already, with everything below it. From a chain that has that commit,
   * only later links are needed.
   */
  const list = async (
    sessionId: string,
    states: readonly RepositoryState[],
    after?: string,
  ): Promise<NeededBundle[]> =>
    (await Promise.all(states.map((state) => listNeeded(sessionId, state, after)))).flat();

  /** Checks the object of a bundle without downloading it. Throws `BundleMissing` or `BundleCorrupt`. */
  const prove = async ({ bundle: { key, at, sizeBytes, sha256 } }: NeededBundle): Promise<void> => {
    const object = await bundles.head(key);
    if (object === undefined) throw damaged('BundleMissing', key, 'is not in the bucket');
    const isWhole = at === undefined;
    if (isWhole ? object.sizeBytes !== sizeBytes : object.sizeBytes < at + sizeBytes)
      throw damaged('BundleCorrupt', key, 'has another size than was stored');
    const stored = isWhole ? sha256 : linksHashOf(key);
    if (object.sha256 !== undefined && object.sha256 !== stored)
      throw damaged('BundleCorrupt', key, 'has another checksum than was stored');
  };

  /** The same check, but reads the whole bundle. */
  const read = async ({ bundle }: NeededBundle): Promise<void> => {
    const { key } = bundle;
    try {
      await bundles.check(bundle);
    } catch (error) {
      if (isWalkbackError(error, 'BundleMissing'))
        throw damaged('BundleMissing', key, 'is not in the bucket');
      if (!isWalkbackError(error, 'BundleCorrupt')) throw error;
      throw damaged('BundleCorrupt', key, 'does not hold the bytes that were stored');
    }
  };

  return { list, prove, read };
};

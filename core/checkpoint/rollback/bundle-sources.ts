/** The bundles a restore has to bring into a sandbox. Every one is known to be there before anything is written. */
import pLimit from 'p-limit';
import { WalkbackError } from '../../shared/errors.ts';
import { linksTo } from '../capture/chain.ts';
import { BUNDLE_LIMITS, type BundleLimits } from '../capture/limits.ts';
import type { RepositoryState, StoredBundle } from '../model.ts';
import type { BundleSource } from '../ports/restore.ts';
import type { BundleStore, SessionStore } from '../ports/stores.ts';

/** A sandbox fetches within one command; this outlives the longest. */
const DOWNLOAD_SECONDS = 3600;
const PARALLEL = 32;

interface Needed {
  path: string;
  kind: 'base' | 'link';
  commit: string;
  bundle: StoredBundle;
}

const missing = (bundle: StoredBundle, why: string): WalkbackError =>
  new WalkbackError(
    'BundleMissing',
    `The bundle ${bundle.key} ${why}, so the checkpoint can not be restored. Nothing was changed. Choose another checkpoint.`,
    { details: { key: bundle.key } },
  );

/** Picks the smallest bundles that fit through the function together. */
const chooseInline = (needed: readonly Needed[], carriedBytes: number): Set<Needed> => {
  const chosen = new Set<Needed>();
  let total = 0;
  for (const one of [...needed].toSorted((a, b) => a.bundle.sizeBytes - b.bundle.sizeBytes)) {
    total += one.bundle.sizeBytes;
    if (total > carriedBytes) break;
    chosen.add(one);
  }
  return chosen;
};

export const createBundleSources = (deps: {
  store: SessionStore;
  bundles: BundleStore;
  limits?: BundleLimits;
}) => {
  const { store, bundles, limits = BUNDLE_LIMITS } = deps;

  const listNeeded = async (sessionId: string, state: RepositoryState): Promise<Needed[]> => {
    const { path, commit, chainId, link: place = 0, base: name, baseOwner } = state;
    if (commit === undefined || chainId === undefined) return [];
    const [links, base] = await Promise.all([
      store.listLinks(sessionId, chainId),
      name === undefined ? undefined : store.getBase(name, baseOwner),
    ]);
    if (name !== undefined && base === undefined) {
      throw missing({ key: `bases/${state.baseCommit}`, sizeBytes: 0, sha256: '' }, 'is not stored any more');
    }
    const below: Needed[] =
      base === undefined ? [] : [{ path, kind: 'base', commit: base.commit, bundle: base }];
    return below.concat(
      linksTo(links, chainId, { commit, link: place }).map((link) => ({
        path,
        kind: 'link' as const,
        commit: link.commit,
        bundle: link.bundle,
      })),
    );
  };

  const fetchOne = async (one: Needed, isInline: boolean): Promise<BundleSource> => {
    const { sha256, sizeBytes, key } = one.bundle;
    const source = { sha256, sizeBytes, kind: one.kind, commit: one.commit };
    if (isInline) return { ...source, bytes: await bundles.get({ key, sha256, sizeBytes }) };
    const object = await bundles.head(key);
    if (object === undefined) throw missing(one.bundle, 'is not in the bucket');
    if (object.sizeBytes !== sizeBytes) throw missing(one.bundle, 'has another size than was stored');
    return { ...source, url: await bundles.presignGet(key, DOWNLOAD_SECONDS) };
  };

  /** Sources per repository path, first the base, then the links in order. `BundleMissing`, `BundleCorrupt`. */
  return async (
    sessionId: string,
    states: readonly RepositoryState[],
  ): Promise<Map<string, BundleSource[]>> => {
    const needed = (await Promise.all(states.map((state) => listNeeded(sessionId, state)))).flat();
    const inline = chooseInline(needed, limits.carriedBytes);
    const limit = pLimit(PARALLEL);
    const sources = await Promise.all(
      needed.map((one) => limit(async () => ({ one, source: await fetchOne(one, inline.has(one)) }))),
    );
    const byPath = new Map<string, BundleSource[]>();
    for (const { one, source } of sources) {
      byPath.set(one.path, [...(byPath.get(one.path) ?? []), source]);
    }
    return byPath;
  };
};

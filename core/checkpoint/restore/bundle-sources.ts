/**
 * Finds the bundles that a restore must bring into a sandbox. Every one is known to exist before anything
 * is written.
 */

import pLimit from 'p-limit';
import { HOUR_SECONDS } from '../../../contract/times.ts';
import { BUNDLE_LIMITS, type BundleLimits } from '../capture/limits.ts';
import type { RepositoryState } from '../model.ts';
import type { BundleSource } from '../ports/restore.ts';
import type { BundleStore, SessionStore } from '../ports/stores.ts';
import { createNeededBundles, type NeededBundle, PARALLEL } from './needed-bundles.ts';

/** A sandbox fetches within one command, and this is longer than the longest command. */
const DOWNLOAD_SECONDS = HOUR_SECONDS;
/** Picks the smallest bundles that together fit through the function. */
const chooseInline = (needed: readonly NeededBundle[], carriedBytes: number): Set<NeededBundle> => {
  const chosen = new Set<NeededBundle>();
  let total = 0;
  for (const one of [...needed].toSorted((a, b) => a.bundle.sizeBytes - b.bundle.sizeBytes)) {
    total += one.bundle.sizeBytes;
    if (total > carriedBytes) break;
    chosen.add(one);
  }
  return chosen;
};

const distinct = (needed: readonly NeededBundle[]): NeededBundle[] => [
  ...new Map(needed.map((one) => [`${one.path}\n${one.bundle.key}\n${one.bundle.at}`, one])).values(),
];

export const createBundleSources = (deps: {
  store: SessionStore;
  bundles: BundleStore;
  limits?: BundleLimits;
}) => {
  const { bundles, limits = BUNDLE_LIMITS } = deps;
  const needed = createNeededBundles(deps);

  const fetchOne = async (one: NeededBundle, isInline: boolean): Promise<BundleSource> => {
    const { sha256, sizeBytes } = one.bundle;
    const source = { sha256, sizeBytes, kind: one.kind };
    if (isInline) return { ...source, bytes: await bundles.get(one.bundle) };
    await needed.prove(one);
    return { ...source, ...(await bundles.presignGet(one.bundle, DOWNLOAD_SECONDS)) };
  };

  /**
   * Sources by repository path: first the base, then the links in order. A bundle that several states of one
   * repository share comes once. `after`: see `list` (needed-bundles.ts). Throws `BundleMissing` or
   * `BundleCorrupt`.
   */
  return async (
    sessionId: string,
    states: readonly RepositoryState[],
    after?: string,
  ): Promise<Map<string, BundleSource[]>> => {
    const all = distinct(await needed.list(sessionId, states, after));
    const inline = chooseInline(all, limits.carriedBytes);
    const limit = pLimit(PARALLEL);
    const sources = await Promise.all(
      all.map((one) => limit(async () => ({ one, source: await fetchOne(one, inline.has(one)) }))),
    );
    const byPath = new Map<string, BundleSource[]>();
    for (const { one, source } of sources) {
      byPath.set(one.path, [...(byPath.get(one.path) ?? []), source]);
    }
    return byPath;
  };
};

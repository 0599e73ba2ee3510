/**
 * Decides about chains of bundles without touching any: how the next capture of a repository is stored, and
 * which bundles a restore reads. Keeps the bounds of docs/design.md: at most one base and 64 links, or 32
 * links while the chain is light.
 */
import { WalkbackError } from '../../shared/errors.ts';
import type { ChainLink } from '../bundles.ts';
import type { RepositoryState } from '../model.ts';
import type { KnownRepository } from '../ports/capture.ts';
import { BUNDLE_LIMITS, type BundleLimits } from './limits.ts';

/**
 * After starting over on the same base, a restore would read the base and a first link like the present
 * one. A chain is too heavy when its later links outweigh that. So a restore never reads more than twice
 * the minimum, and each restart is paid for by the bytes written since the last one.
 */
const isTooHeavy = (state: RepositoryState, limits: BundleLimits): boolean => {
  const first = state.firstBytes ?? 0;
  const sinceFirst = (state.chainBytes ?? 0) - first;
  return sinceFirst > Math.max((state.baseBytes ?? 0) + first, limits.chainFloorBytes);
};

/** A new base helps only when the first link is heavy because the host's HEAD has moved away from the old one. */
const needsNewBase = (state: RepositoryState, limits: BundleLimits): boolean =>
  state.head !== undefined &&
  state.head !== state.baseCommit &&
  (state.firstBytes ?? 0) > Math.max(state.baseBytes ?? 0, limits.chainFloorBytes);

/**
 * A restore asks the store for each link. So a chain may have only half as many links where starting over
 * costs almost nothing: the new first link is then no larger than the links before it together.
 */
const isFull = (state: RepositoryState, limits: BundleLimits): boolean => {
  const isLight = (state.chainBytes ?? 0) <= limits.lightChainBytes;
  return (state.link ?? 0) + 1 >= (isLight ? limits.maxLightLinks : limits.maxLinks);
};

/** How the capture after `state` is stored. The sandbox may have to fall back to a lower step. */
export const nextStep = (
  state: RepositoryState,
  limits: BundleLimits = BUNDLE_LIMITS,
): KnownRepository['next'] => {
  if (!isFull(state, limits) && !isTooHeavy(state, limits)) return 'append';
  return needsNewBase(state, limits) ? 'rebase' : 'restart';
};

/** What the store holds of one repository, for the capture. Undefined when it holds nothing. */
export const knownFrom = (state: RepositoryState, limits?: BundleLimits): KnownRepository | undefined => {
  if (state.commit === undefined || state.tree === undefined || state.meta === undefined) return undefined;
  return {
    path: state.path,
    commit: state.commit,
    tree: state.tree,
    meta: state.meta,
    base: state.base,
    baseCommit: state.baseCommit,
    next: nextStep(state, limits),
  };
};

/** The exact prerequisites that a link's bundle must have. */
export const prerequisitesOf = (
  chain: KnownRepository['next'],
  known: { commit: string } | undefined,
  baseCommit: string | undefined,
): string[] => {
  if (chain === 'append' && known !== undefined) return [known.commit];
  return baseCommit === undefined ? [] : [baseCommit];
};

/**
 * The links from the chain's first to the one that holds `commit`, in order. Throws `BundleMissing` when
 * one is absent.
 */
export const linksTo = (
  links: readonly ChainLink[],
  chainId: string,
  { commit, link: last }: { commit: string; link: number },
): ChainLink[] => {
  // Two writers may both have stored a link at the same place, and a sandbox may name a commit twice in one
  // chain. The place together with `previous` tells which link a commit builds on.
  const byPlace = new Map(links.map((link) => [`${link.link} ${link.commit}`, link]));
  const walk: ChainLink[] = [];
  let at: string | null = commit;
  for (let place = last; at !== null; place--) {
    const link = byPlace.get(`${place} ${at}`);
    if (link === undefined) {
      throw new WalkbackError(
        'BundleMissing',
        `The chain ${chainId} has no link for commit ${at}; the checkpoint cannot be restored. Choose another checkpoint.`,
        { details: { chainId, commit: at } },
      );
    }
    walk.push(link);
    at = link.previous;
  }
  return walk.toReversed();
};

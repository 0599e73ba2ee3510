/**
 * Chains of bundles, decided without touching any: how the next capture of a repository is stored, and which
 * bundles a restore reads. Keeps the bound of docs/design.md: at most one base and 64 links.
 */
import { MIB } from '../../../contract/sizes.ts';
import { WalkbackError } from '../../shared/errors.ts';
import type { ChainLink, RepositoryState } from '../model.ts';
import type { KnownRepository } from '../ports/capture.ts';

export const MAX_LINKS = 64;
/** Below this a chain is never too heavy: starting over would cost more than it saves. */
const CHAIN_FLOOR_BYTES = 4 * MIB;

/**
 * What starting over on the same base would leave to read: the base and a first link like the present one. A
 * chain is too heavy when the links after its first outweigh that, so restoring never reads more than twice what
 * it must, and starting over is paid for by what was written since.
 */
const isTooHeavy = (state: RepositoryState): boolean => {
  const first = state.firstBytes ?? 0;
  const sinceFirst = (state.chainBytes ?? 0) - first;
  return sinceFirst > Math.max((state.baseBytes ?? 0) + first, CHAIN_FLOOR_BYTES);
};

/** A new base helps only when the first link is heavy because the host's HEAD has moved away from the old one. */
const needsNewBase = (state: RepositoryState): boolean =>
  state.head !== undefined &&
  state.head !== state.baseCommit &&
  (state.firstBytes ?? 0) > Math.max(state.baseBytes ?? 0, CHAIN_FLOOR_BYTES);

/** How the capture after `state` is to be stored. The sandbox may have to fall back to a lower step. */
export const nextStep = (state: RepositoryState): KnownRepository['next'] => {
  const isFull = (state.link ?? 0) + 1 >= MAX_LINKS;
  if (!isFull && !isTooHeavy(state)) return 'append';
  return needsNewBase(state) ? 'rebase' : 'restart';
};

/** What the store has of one repository, for the capture script; undefined when it has nothing. */
export const knownFrom = (state: RepositoryState): KnownRepository | undefined => {
  if (state.commit === undefined || state.tree === undefined || state.meta === undefined) return undefined;
  return {
    path: state.path,
    commit: state.commit,
    tree: state.tree,
    meta: state.meta,
    base: state.base,
    baseCommit: state.baseCommit,
    next: nextStep(state),
  };
};

/** The prerequisites a link's bundle must have, and no others. */
export const prerequisitesOf = (
  chain: KnownRepository['next'],
  known: { commit: string } | undefined,
  baseCommit: string | undefined,
): string[] => {
  if (chain === 'append' && known !== undefined) return [known.commit];
  return baseCommit === undefined ? [] : [baseCommit];
};

/** The links from the chain's first to the one that holds `commit`, in order; `BundleMissing` when one is not there. */
export const linksTo = (links: readonly ChainLink[], chainId: string, commit: string): ChainLink[] => {
  // Two writers may both have stored a link at one place; `previous` tells which one the commit stands on.
  const byCommit = new Map(links.map((link) => [link.commit, link]));
  const walk: ChainLink[] = [];
  let at: string | null = commit;
  while (at !== null) {
    const link = byCommit.get(at);
    if (link === undefined || walk.length > MAX_LINKS) {
      throw new WalkbackError(
        'BundleMissing',
        `The chain ${chainId} has no link for commit ${at}; the checkpoint can not be restored. Choose another checkpoint.`,
        { details: { chainId, commit: at } },
      );
    }
    walk.push(link);
    at = link.previous;
  }
  return walk.toReversed();
};

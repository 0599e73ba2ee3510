/**
 * Stores the bundles of one captured repository durably, and answers its state for the checkpoint (C1,
 * C10).
 */
import pLimit from 'p-limit';
import { WalkbackError } from '../../shared/errors.ts';
import type { Clock } from '../../shared/surroundings.ts';
import type { ChainLink, StoredBase } from '../bundles.ts';
import type { RepositoryState, Session } from '../model.ts';
import type { CapturedBundle, ClaimedCapture } from '../ports/capture.ts';
import type { SessionStore } from '../ports/stores.ts';
import { baseOwnerOf, chainIdOf } from '../session/keys.ts';
import { chainExpiryOf, isAlive, keepChain } from '../session/retention.ts';
import type { BundleIntake } from './bundle-intake.ts';
import { claimProblem, linkPrerequisites } from './capture-claims.ts';
import { knownFrom } from './chain.ts';

/** Chains that are looked after at the same time. */
const PARALLEL = 8;

export interface RepositoryIntake {
  state: RepositoryState;
  link?: ChainLink;
}

const failed = (message: string): WalkbackError => new WalkbackError('CaptureFailed', message);

const hostFacts = ({ info, stash }: ClaimedCapture, before: RepositoryState | undefined) =>
  info === undefined
    ? {
        branch: before?.branch,
        head: before?.head,
        shallow: before?.shallow,
        partial: before?.partial,
        objectFormat: before?.objectFormat,
        stash: before?.stash,
      }
    : {
        branch: info.branch,
        head: info.head,
        shallow: info.shallow,
        partial: info.partial,
        objectFormat: info.objectFormat,
        stash,
      };

export const createRepositoryIntake = (deps: {
  session: Session;
  store: SessionStore;
  intake: BundleIntake;
  clock: Clock;
  bundles: readonly CapturedBundle[];
}) => {
  const { session, store, intake, clock, bundles } = deps;

  const chains = pLimit(PARALLEL);

  const find = (path: string, kind: 'base' | 'link') =>
    bundles.find((bundle) => bundle.repositoryPath === path && bundle.kind === kind);

  /**
   * Chooses the base below a new chain: one of the session's owner, or one brought by this capture. Another owner's base is never used, whatever the sandbox says. Knowing a
   * commit's id does not prove possession of the commit.
   */
  const storeBase = async (repository: ClaimedCapture): Promise<StoredBase | undefined> => {
    const { base: name, baseCommit: commit } = repository;
    if (name === undefined || commit === undefined) return undefined;
    const expiresAt = chainExpiryOf(session, clock);
    const owner = baseOwnerOf(session);
    const bundle = find(repository.path, 'base');
    const known = await store.getBase(name, owner);
    if (known !== undefined && isAlive(known, clock)) return store.putBase({ ...known, expiresAt });
    if (bundle?.commit !== commit) throw failed('its base bundle was not made');
    const stored = await intake.take({ ...bundle, base: name }, { commit, prerequisites: [] });
    const { shallow = false, partial = false } = repository.info ?? {};
    return store.putBase({ ...stored, name, owner, commit, shallow, partial, expiresAt });
  };

  const chainBelow = async (repository: ClaimedCapture, before: RepositoryState | undefined) => {
    if (repository.chain === 'append' && before?.chainId !== undefined) {
      const kept = await keepChain(store, session, before, clock);
      return { ...kept, chainId: before.chainId, link: (before.link ?? 0) + 1 };
    }
    const base = await storeBase(repository);
    return {
      chainId: chainIdOf(repository.path, repository.commit),
      link: 0,
      base: base?.name,
      baseCommit: base?.commit,
      baseOwner: base?.owner,
      baseBytes: base?.sizeBytes,
      chainExpiresAt: chainExpiryOf(session, clock),
    };
  };

  const takeChanged = async (
    repository: ClaimedCapture,
    before: RepositoryState | undefined,
  ): Promise<RepositoryIntake> => {
    const known = before && knownFrom(before);
    const bundle = find(repository.path, 'link');
    const { commit, tree, meta } = repository;
    if (bundle?.commit !== commit) throw failed('its bundle was not made');
    const stored = await intake.take(
      { ...bundle, chain: repository.chain },
      {
        commit,
        prerequisites: linkPrerequisites(repository, known),
      },
    );
    const chain = await chains(() => chainBelow(repository, before));
    const isFirst = chain.link === 0;
    const state: RepositoryState = {
      path: repository.path,
      state: 'captured',
      commit,
      tree,
      meta,
      changed: true,
      bundleBytes: stored.sizeBytes,
      chainId: chain.chainId,
      link: chain.link,
      chainBytes: (isFirst ? 0 : (before?.chainBytes ?? 0)) + stored.sizeBytes,
      firstBytes: isFirst ? stored.sizeBytes : before?.firstBytes,
      chainExpiresAt: chain.chainExpiresAt,
      base: chain.base,
      baseCommit: chain.baseCommit,
      baseOwner: chain.baseOwner,
      baseBytes: chain.baseBytes,
      ...hostFacts(repository, before),
    };
    const link: ChainLink = {
      sessionId: session.sessionId,
      repositoryPath: repository.path,
      chainId: chain.chainId,
      link: chain.link,
      commit,
      previous: isFirst ? null : (known?.commit ?? null),
      bundle: stored,
      expiresAt: chainExpiryOf(session, clock),
    };
    return { state, link };
  };

  /** Throws `CaptureFailed` or `BundleCorrupt` with the reason why this one repository is not captured. */
  return async (
    repository: ClaimedCapture,
    before: RepositoryState | undefined,
  ): Promise<RepositoryIntake> => {
    const problem = claimProblem(repository, before && knownFrom(before));
    if (problem !== undefined) throw failed(problem);
    if (repository.changed) return takeChanged(repository, before);
    if (before === undefined) throw failed('its capture is called unchanged but nothing is known of it');
    const kept = await chains(() => keepChain(store, session, before, clock));
    const facts = hostFacts(repository, before);
    const { commit, tree, meta } = repository;
    return {
      state: { ...kept, ...facts, commit, tree, meta, state: 'captured', changed: false, bundleBytes: 0 },
    };
  };
};

/**
 * Brings in the bundles that a restore will need while the preceding capture's bundles are read out, so
 * that the two round trips overlap. The bundles only lie in the sandbox. Nothing is overwritten before the
 * capture is durable (C3).
 */

import type { BundleLimits } from '../capture/limits.ts';
import type { RepositoryState, Session } from '../model.ts';
import type { CaptureOutline } from '../ports/capture.ts';
import type { Repositories } from '../ports/repositories.ts';
import type { BundleSource } from '../ports/restore.ts';
import type { ExecutionAdapter } from '../ports/sandbox.ts';
import type { BundleStore, SessionStore } from '../ports/stores.ts';
import { createBundleSources } from './bundle-sources.ts';
import { statesToBring } from './restore-plan.ts';

export interface EarlyBundles {
  /** The states that the bundles were brought for. */
  states: readonly RepositoryState[];
  sources: ReadonlyMap<string, BundleSource[]>;
  /** The directory that holds them, as `Repositories.carry` named it. */
  place: string;
}

/** Early bundles serve one restore, of exactly these states. */
export const servesStates = (early: EarlyBundles, states: readonly RepositoryState[]): boolean =>
  early.states.length === states.length && states.every((state) => early.states.includes(state));

export const createEarlyBundles = (deps: {
  store: SessionStore;
  bundles: BundleStore;
  repositories: Repositories;
  limits?: BundleLimits;
}) => {
  const bundleSources = createBundleSources(deps);

  return async (
    session: Session,
    sandbox: ExecutionAdapter,
    target: readonly RepositoryState[],
    now: CaptureOutline,
  ): Promise<EarlyBundles | undefined> => {
    const missingTargets = now.repositories.filter((one) => one.missingTarget).map(({ path }) => path);
    const states = statesToBring(target, { repositories: now.repositories, missingTargets });
    if (states.length === 0) return undefined;
    const sources = await bundleSources(session.sessionId, states);
    const place = await deps.repositories.carry(sandbox, {
      sessionId: session.sessionId,
      projectsRoot: session.projectsRoot,
      chains: [...sources.values()],
    });
    return { states, sources, place };
  };
};

/** Finds the bundles that a composition must bring into the sandbox. */

import type { CaptureDeps } from '../capture/capture.ts';
import type { RepositoryState } from '../model.ts';
import type { ComposeRepository } from '../ports/compose.ts';
import type { BundleSource } from '../ports/restore.ts';
import { createBundleSources } from '../rollback/bundle-sources.ts';
import type { Decision } from './decide.ts';

/** The chain alone: the sandbox that the other side began in has the base. */
const withoutBase = ({ base: _base, ...state }: RepositoryState): RepositoryState => state;

const statesOf = (decision: Decision | undefined): readonly RepositoryState[] => {
  switch (decision?.action) {
    case 'merge':
      return decision.others;
    case 'take':
      return [decision.state];
    case 'keep':
    case 'leave':
    case undefined:
      return [];
  }
};

export const createComposeBundles = (deps: CaptureDeps) => {
  const sourcesOf = createBundleSources(deps);

  /** A base may be named several times, and a link is in the chain of several states. */
  const distinct = (sources: readonly BundleSource[]): BundleSource[] => [
    ...new Map(sources.map((one) => [one.sha256, one])).values(),
  ];

  /**
   * Chains of other sessions are brought at once. For `missing` repositories everything is, also what is below
   * the chains and what this session has.
   */
  return async (
    sessionId: string,
    foreign: ReadonlyMap<RepositoryState, string>,
    wanted: readonly Omit<ComposeRepository, 'bundles'>[],
    decisions: readonly Decision[],
    missing: readonly string[],
  ): Promise<ComposeRepository[]> =>
    Promise.all(
      wanted.map(async (one) => {
        const { path } = one.known;
        const isWhole = missing.includes(path) || one.isNew === true;
        const needed = statesOf(decisions.find((decision) => decision.path === path));
        const sources: BundleSource[] = [];
        for (const state of needed) {
          const owner = foreign.get(state);
          if (owner === undefined && !isWhole) continue;
          const chain = isWhole ? state : withoutBase(state);
          sources.push(...((await sourcesOf(owner ?? sessionId, [chain])).get(path) ?? []));
        }
        return { ...one, bundles: distinct(sources) };
      }),
    );
};

/** Finds the bundles that a composition must bring into the sandbox. */

import type { CaptureDeps } from '../capture/capture.ts';
import type { CapturedRepositoryState, RepositoryState } from '../model.ts';
import type { ComposeRepository } from '../ports/compose.ts';
import type { BundleSource } from '../ports/restore.ts';
import { createBundleSources } from '../restore/bundle-sources.ts';
import type { Decision } from './decide.ts';

/** The chain without its base: the sandbox that the other session began in has the base. */
const withoutBase = ({ base: _base, ...state }: CapturedRepositoryState): RepositoryState => state;

/** Chains of one session. `after`: a commit that the sandbox should already have (`createBundleSources`). */
interface Wanted {
  sessionId: string;
  states: RepositoryState[];
  after?: string;
}

export const createComposeBundles = (deps: CaptureDeps) => {
  const sourcesOf = createBundleSources(deps);

  /** The chains of several sessions may name the same base. Each bundle is brought once. */
  const distinct = (sources: readonly BundleSource[]): BundleSource[] => [
    ...new Map(sources.map((one) => [one.sha256, one])).values(),
  ];

  /** Everything, including what lies below the chains and what this session should have. */
  const whole = (
    decision: Decision | undefined,
    ownerOf: (state: RepositoryState) => string,
  ): readonly Wanted[] => {
    if (decision?.action === 'take')
      return [{ sessionId: ownerOf(decision.state), states: [decision.state] }];
    if (decision?.action !== 'merge') return [];
    const bySession = new Map<string, RepositoryState[]>();
    for (const state of decision.states.flatMap(({ base, theirs }) => [base, theirs])) {
      bySession.set(ownerOf(state), [...(bySession.get(ownerOf(state)) ?? []), state]);
    }
    return [...bySession].map(([sessionId, states]) => ({ sessionId, states }));
  };

  /**
   * What other sessions did since the last common state. The sandbox should have that state: an earlier merge
   * brought it, or the sandbox began with it. If the sandbox lacks some of it, it reports the repository as
   * `missing`.
   */
  const since = (
    decision: Decision | undefined,
    foreign: ReadonlyMap<RepositoryState, string>,
  ): readonly Wanted[] =>
    decision?.action !== 'merge'
      ? []
      : decision.states.flatMap(({ base, theirs }) => {
          const sessionId = foreign.get(theirs);
          return sessionId === undefined
            ? []
            : [{ sessionId, states: [withoutBase(theirs)], after: base.commit }];
        });

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
        const decision = decisions.find((each) => each.path === path);
        const needed =
          missing.includes(path) || one.isNew === true
            ? whole(decision, (state) => foreign.get(state) ?? sessionId)
            : since(decision, foreign);
        const sources = await Promise.all(
          needed.map((each) => sourcesOf(each.sessionId, each.states, each.after)),
        );
        return { ...one, bundles: distinct(sources.flatMap((each) => each.get(path) ?? [])) };
      }),
    );
};

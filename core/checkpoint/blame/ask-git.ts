/** Asks the sandbox who wrote a file, and brings in the captures that it lacks, for this call alone. */
import { GIB } from '../../../contract/sizes.ts';
import { WalkbackError } from '../../shared/errors.ts';
import type { RepositoryState } from '../model.ts';
import type { BlameReport, BlameRequest } from '../ports/blame.ts';
import type { Repositories } from '../ports/repositories.ts';
import type { BundleSource } from '../ports/restore.ts';
import type { ExecutionAdapter } from '../ports/sandbox.ts';
import type { BundleStore, SessionStore } from '../ports/stores.ts';
import { createBundleSources } from '../restore/bundle-sources.ts';
import type { HistoryNode } from './history.ts';

/** More than this is brought by a rehydrate. */
const MOST_BROUGHT = GIB / 4;

/** A node with the session that stored its capture; undefined: it was captured just now. */
export interface OwnedNode extends HistoryNode {
  sessionId?: string;
}

const lacking = (path: string, why: string): WalkbackError =>
  new WalkbackError(
    'BundleMissing',
    `The sandbox does not hold the captures of ${path} that the file came from, and ${why}. Rehydrate the point with walkback-rehydrate (walkback rehydrate --to POINT), and ask in that sandbox by its sandboxId (walkback blame PATH --sandbox ID).`,
    { details: { repositories: [path] } },
  );

/** Many captures are of one chain, on one base: each is read once. */
const readingOnce = (store: SessionStore): SessionStore => {
  const once = <Input extends string[], Output>(read: (...input: Input) => Promise<Output>) => {
    const known = new Map<string, Promise<Output>>();
    return (...input: Input): Promise<Output> => {
      const key = JSON.stringify(input);
      const reading = known.get(key) ?? read(...input);
      known.set(key, reading);
      return reading;
    };
  };
  return {
    ...store,
    listLinks: once((sessionId: string, chainId: string) => store.listLinks(sessionId, chainId)),
    getBase: once((name: string, owner: string) => store.getBase(name, owner)),
  };
};

export const createAskGit = (deps: {
  store: SessionStore;
  bundles: BundleStore;
  repositories: Pick<Repositories, 'blame'>;
}) => {
  const bring = async (
    nodes: readonly OwnedNode[],
    bases: ReadonlySet<string>,
    path: string,
  ): Promise<BundleSource[]> => {
    const sourcesOf = createBundleSources({ ...deps, store: readingOnce(deps.store) });
    const bySession = new Map<string, RepositoryState[]>();
    for (const { state, sessionId } of nodes) {
      if (state === undefined || sessionId === undefined) continue;
      const { base, ...rest } = state;
      const isThere = state.baseCommit !== undefined && bases.has(state.baseCommit);
      const wanted = isThere || base === undefined ? rest : state;
      bySession.set(sessionId, [...(bySession.get(sessionId) ?? []), wanted]);
    }
    const found = await Promise.all(
      [...bySession].map(([sessionId, states]) => sourcesOf(sessionId, states)),
    );
    const all = found.flatMap((one) => one.get(path) ?? []);
    // Each base comes before all links.
    const ordered = [
      ...all.filter(({ kind }) => kind === 'base'),
      ...all.filter(({ kind }) => kind === 'link'),
    ];
    return [...new Map(ordered.map((one) => [one.sha256, one])).values()];
  };

  /** A report of another kind than `missing`. Throws `BundleMissing` where the captures are nowhere. */
  return async (
    sandbox: ExecutionAdapter,
    nodes: readonly OwnedNode[],
    request: Omit<BlameRequest, 'nodes' | 'bases' | 'bundles'>,
  ): Promise<Exclude<BlameReport, { kind: 'missing' }>> => {
    const { path } = request;
    const bases = [...new Set(nodes.flatMap(({ state }) => state?.baseCommit ?? []))];
    const asked = {
      ...request,
      bases,
      nodes: nodes.map(({ tree, parents, commit }) => ({
        tree,
        parents,
        ...(commit !== undefined && { commit }),
      })),
    };
    const report = await deps.repositories.blame(sandbox, { ...asked, bundles: [] });
    if (report.kind !== 'missing') return report;
    const missing = report.nodes.flatMap((at) => nodes[at] ?? []);
    const bundles = await bring(missing, new Set(report.bases), path);
    const sizeBytes = bundles.reduce((sum, one) => sum + one.sizeBytes, 0);
    if (bundles.length === 0) throw lacking(path, 'the store has none of them either');
    if (sizeBytes > MOST_BROUGHT) throw lacking(path, `they are too large to be brought for one question`);
    const again = await deps.repositories.blame(sandbox, { ...asked, bundles });
    if (again.kind === 'missing') throw lacking(path, 'what the store has of them is not enough');
    return again;
  };
};

/** What is written into the sandbox so that a restore finds its bundles. Pure. */
import type { RestoreRepository, RestoreRequest } from '../../core/checkpoint/ports/restore.ts';
import { sha256Hex } from '../../core/shared/ids.ts';
import { curlTransfers, type Transfer } from './curl.ts';
import type { IncomingBundle } from './join-links.ts';

/** A request, with its bundles as they lie in the sandbox. */
export type IncomingRequest = Omit<RestoreRequest, 'repositories'> & {
  repositories: readonly (Omit<RestoreRepository, 'bundles'> & { bundles: readonly IncomingBundle[] })[];
};

/** The file with the addresses. */
export const SOURCES = 'sources';

const uniqueOf = (bundles: readonly IncomingBundle[]): IncomingBundle[] => [
  ...new Map(bundles.map((bundle) => [bundle.sha256, bundle])).values(),
];

/** Those that do not travel in the request. */
export const fetchedBundles = (bundles: readonly IncomingBundle[]): Transfer[] =>
  uniqueOf(bundles).flatMap(({ bytes, url, headers, sha256, sizeBytes }) =>
    bytes === undefined && url !== undefined ? [{ url, headers, sizeBytes, output: `${sha256}.bundle` }] : [],
  );

/** One file for each bundle that travels through the function, and one list of addresses for all others. */
export const incomingFiles = (directory: string, bundles: readonly IncomingBundle[]) => {
  const carried = uniqueOf(bundles).flatMap(({ bytes, sha256, cuts }) => [
    ...(bytes === undefined ? [] : [{ path: `${directory}/${sha256}.bundle`, data: bytes }]),
    ...(cuts === undefined ? [] : [{ path: `${directory}/${cuts.sha256}.cuts`, data: cuts.text }]),
  ]);
  const fetched = fetchedBundles(bundles);
  const bytes = fetched.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  // The program tells how much of it has come (sandbox/src/bundle/curl.rs).
  const sources = `# bytes ${bytes}\n${curlTransfers(fetched)}`;
  return [...carried, ...(fetched.length === 0 ? [] : [{ path: `${directory}/${SOURCES}`, data: sources }])];
};

const NO_REPOSITORY = 'no repository\n';

/**
 * Bringing files in also makes the projects root of a fresh sandbox. When there is nothing to bring, one file
 * is written for this; like all files that arrive, it is named by its content.
 */
export const rootMaker = (directory: string, { repositories }: RestoreRequest) =>
  repositories.length === 0
    ? [{ path: `${directory}/${sha256Hex(NO_REPOSITORY)}.nothing`, data: NO_REPOSITORY }]
    : [];

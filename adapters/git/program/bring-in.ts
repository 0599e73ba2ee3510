/** Brings bundles into a sandbox for a call that needs them. */
import type { ProgressHooks } from '../../../core/checkpoint/ports/capture.ts';
import type { ExecutionAdapter } from '../../../core/checkpoint/ports/sandbox.ts';
import { isWalkbackError } from '../../../core/shared/errors.ts';
import { curlTransfers } from '../curl.ts';
import { fetchedBundles, incomingFiles, SOURCES } from '../incoming-files.ts';
import type { IncomingBundle } from '../join-links.ts';
import { fetchStreams, tellTransfers } from './transfers.ts';

/** As `sandbox/src/bundle/curl.rs` has it. */
const lacksCurl = (error: unknown): boolean =>
  isWalkbackError(error, 'SandboxUnavailable') && error.details['said'] === 'CurlMissing';

/**
 * Does `work`, which reads what lies in `directory`. Where the sandbox has no curl to fetch from the bucket, the same bundles are
 * carried through this process, and `work` is done again.
 */
export const carryingWithoutCurl = async <T>(
  sandbox: ExecutionAdapter,
  directory: string,
  bundles: readonly IncomingBundle[],
  work: () => Promise<T>,
  hooks: ProgressHooks = {},
): Promise<T> => {
  try {
    return await work();
  } catch (error) {
    if (!lacksCurl(error)) throw error;
    const fetched = fetchedBundles(bundles);
    tellTransfers('download', fetched, hooks);
    await fetchStreams(sandbox, directory, fetched);
    const inline = incomingFiles(
      directory,
      bundles.filter(({ bytes }) => bytes !== undefined),
    );
    await sandbox.writeFiles([...inline, { path: `${directory}/${SOURCES}`, data: curlTransfers([]) }]);
    return work();
  }
};

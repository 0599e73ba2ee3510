/** Carries bundles into the sandbox where they are needed, and runs the restore command. */
import { randomBytes } from 'node:crypto';
import type { Repositories } from '../../core/checkpoint/ports/repositories.ts';
import type { RestoreRequest } from '../../core/checkpoint/ports/restore.ts';
import { WalkbackError } from '../../core/shared/errors.ts';
import { sha256Hex } from '../../core/shared/ids.ts';
import { incomingDirectory } from './call-folders.ts';
import { curlTransfers } from './curl.ts';
import { type IncomingBundle, joinLinks, type LinkLimits } from './join-links.ts';
import { requireOutput } from './output.ts';
import { releasingAfterFailure } from './release.ts';
import { restoreReport, restoreScript } from './restore-command.ts';
import { runScript } from './run-script.ts';

/** One file for each bundle that travels through the function, and one list of addresses for all others. */
export const incomingFiles = (directory: string, bundles: readonly IncomingBundle[]) => {
  const unique = [...new Map(bundles.map((bundle) => [bundle.sha256, bundle])).values()];
  const carried = unique.flatMap(({ bytes, sha256, cuts }) => [
    ...(bytes === undefined ? [] : [{ path: `${directory}/${sha256}.bundle`, data: bytes }]),
    ...(cuts === undefined ? [] : [{ path: `${directory}/${cuts.sha256}.cuts`, data: cuts.text }]),
  ]);
  const fetched = unique.flatMap(({ bytes, url, headers, sha256, sizeBytes }) =>
    bytes === undefined && url !== undefined ? [{ url, headers, sizeBytes, output: `${sha256}.bundle` }] : [],
  );
  return [
    ...carried,
    ...(fetched.length === 0 ? [] : [{ path: `${directory}/sources`, data: curlTransfers(fetched) }]),
  ];
};

const cutShort = (): WalkbackError =>
  new WalkbackError(
    'SandboxUnavailable',
    'The output of the restore was cut short, so it is not known how far it came. Call again.',
    { retryable: true },
  );

const NO_REPOSITORY = 'no repository\n';

/**
 * Bringing files in also makes the projects root of a fresh sandbox. When there is nothing to bring, one file
 * is written for this; like all files that arrive, it is named by its content.
 */
const rootMaker = (directory: string, { repositories }: RestoreRequest) =>
  repositories.length === 0
    ? [{ path: `${directory}/${sha256Hex(NO_REPOSITORY)}.nothing`, data: NO_REPOSITORY }]
    : [];

const newCall = (): string => randomBytes(9).toString('hex');

export const createRestore = (limits: LinkLimits): Pick<Repositories, 'carry' | 'restore'> => ({
  carry: async (sandbox, request) => {
    const call = newCall();
    const bundles = request.chains.flatMap((chain) => joinLinks(chain, limits));
    await sandbox.writeFiles(incomingFiles(incomingDirectory(request, call), bundles));
    return call;
  },

  /**
   * Restores every repository of the request, all or none. One round trip; two when bundles are brought in,
   * the request is large, or there is no repository. Settling needs two more where the sandbox has not got its
   * program yet (deliver-program.ts). Throws `SandboxUnavailable` (retryable: the same call
   * again goes on), `SandboxUnsupported`, or what the sandbox adapter throws.
   */
  restore: async (sandbox, asked) => {
    const request = {
      ...asked,
      repositories: asked.repositories.map((one) => ({ ...one, bundles: joinLinks(one.bundles, limits) })),
    };
    const call = request.carried ?? newCall();
    const mark = `walkback-${randomBytes(9).toString('hex')}`;
    const script = restoreScript(request, call, mark);
    const bundles = request.carried === undefined ? request.repositories.flatMap((one) => one.bundles) : [];
    const directory = incomingDirectory(request, call);
    const files = [...incomingFiles(directory, bundles), ...script.files, ...rootMaker(directory, asked)];
    const { projectsRoot, timeoutMs } = request;
    const started = await runScript(sandbox, { ...script, files }, { cwd: projectsRoot, timeoutMs });
    const pairs = await releasingAfterFailure(sandbox, { ...request, held: call }, () => {
      const output = requireOutput(started.result, mark);
      if (output.pairs.at(-1)?.[0] !== 'end') throw cutShort();
      return output.pairs;
    });
    return restoreReport(pairs, request, started.roundTrips);
  },
});

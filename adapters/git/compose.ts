/** Carries the other side's bundles into the sandbox, runs the compose command and brings its bundles out. */
import type { Repositories } from '../../core/checkpoint/ports/repositories.ts';
import { incomingDirectory } from './call-folders.ts';
import { createCaptureRun, newCaptureCall } from './capture.ts';
import { composeFindings, composeScript } from './compose-command.ts';
import { joinLinks, type LinkLimits } from './join-links.ts';
import { incomingFiles } from './restore.ts';

/**
 * One round trip; one more when bundles are brought in, and one more when large ones come out. Throws the
 * same errors as a capture.
 */
export const createCompose = (outputBytes: number, limits: LinkLimits): Repositories['compose'] => {
  const run = createCaptureRun(outputBytes);
  return async (sandbox, asked, upload) => {
    const request = {
      ...asked,
      repositories: asked.repositories.map((one) => ({ ...one, bundles: joinLinks(one.bundles, limits) })),
    };
    const { call, mark } = newCaptureCall();
    const built = composeScript(request, call, mark, outputBytes);
    const bundles = request.repositories.flatMap((one) => one.bundles);
    const incoming = incomingFiles(incomingDirectory(request, call), bundles);
    const script = { ...built, files: [...incoming, ...built.files] };
    const withChanges = { ...request, changes: request.isExported };
    const { pairs, report } = await run(sandbox, { request: withChanges, call, mark, script }, upload);
    return { ...report, ...composeFindings(pairs) };
  };
};

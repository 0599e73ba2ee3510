/** Composes with the program: carries the other side's bundles into the sandbox, and brings its bundles out. */
import { SANDBOX_REPORTS } from '../../../contract/sandbox/reports.ts';
import type { Repositories } from '../../../core/checkpoint/ports/repositories.ts';
import { incomingDirectory } from '../call-folders.ts';
import { incomingFiles } from '../incoming-files.ts';
import { joinLinks, type LinkLimits } from '../join-links.ts';
import { carryingWithoutCurl } from './bring-in.ts';
import type { SandboxProgram } from './call.ts';
import { carryOut, newCarryingCall } from './carry-out.ts';
import { composeCommand, composeFindings, composeOutline } from './compose-report.ts';

/**
 * One round trip; one more when bundles are brought in, and one more when large ones come out. Throws the same errors as a
 * capture.
 */
export const createCompose =
  (program: SandboxProgram, outputBytes: number, limits: LinkLimits): Repositories['compose'] =>
  async (sandbox, asked, upload) => {
    const request = {
      ...asked,
      changes: asked.isExported,
      repositories: asked.repositories.map((one) => ({ ...one, bundles: joinLinks(one.bundles, limits) })),
    };
    const { call, mark } = newCarryingCall();
    const bundles = request.repositories.flatMap((one) => one.bundles);
    const directory = incomingDirectory(request, call);
    const files = incomingFiles(directory, bundles);
    if (files.length > 0) await sandbox.writeFiles(files);
    const command = composeCommand(request, call, outputBytes);
    const { report, carried } = await carryingWithoutCurl(sandbox, directory, bundles, () =>
      carryOut(
        {
          sandbox,
          request,
          call,
          mark,
          outputBytes,
          schema: SANDBOX_REPORTS.compose,
          outlineOf: composeOutline,
          start: (where) => program.run(sandbox, command, where),
        },
        upload,
        {},
      ),
    );
    return {
      ...carried,
      ...composeFindings(report),
      roundTrips: carried.roundTrips + Number(files.length > 0),
    };
  };

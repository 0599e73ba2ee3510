/** Counts the files of a projects root that lie in no repository, and that git would not ignore, before they are captured. */
import { SANDBOX_REPORTS } from '../../../contract/sandbox/reports.ts';
import type { Repositories } from '../../../core/checkpoint/ports/repositories.ts';
import type { SandboxProgram } from './call.ts';

/** One round trip. Throws `SandboxUnavailable` (retryable), `SandboxUnsupported`, or what the sandbox adapter throws. */
export const createLooseFiles =
  (program: SandboxProgram): Repositories['countLooseFiles'] =>
  async (sandbox, request) => {
    const { include, exclude, mostFiles, maxFileBytes } = request;
    const report = await program.call(
      sandbox,
      {
        kind: 'count-loose-files',
        include: [...include],
        exclude: [...exclude],
        mostFiles,
        maxFileBytes,
      },
      SANDBOX_REPORTS['count-loose-files'],
      request,
    );
    return { files: report.files ?? null, bytes: report.bytes ?? null };
  };

/** Commands that only look: survey, directories, diff. One round trip each. */
import { SANDBOX_REPORTS } from '../../contract/sandbox/reports.ts';
import type { Repositories } from '../../core/checkpoint/ports/repositories.ts';
import { fileDiffOf } from './file-diff.ts';
import type { SandboxProgram } from './program/call.ts';

type Inspection = Pick<Repositories, 'survey' | 'directories' | 'diff'>;

export const createInspection = (program: SandboxProgram): Inspection => ({
  survey: (sandbox, request) =>
    program.call(
      sandbox,
      { kind: 'survey', maxDepth: request.maxDepth, detail: request.detail },
      SANDBOX_REPORTS.survey,
      request,
    ),

  async directories(sandbox, request) {
    const { paths, maxEntries } = request;
    const report = await program.call(
      sandbox,
      { kind: 'directories', paths, maxEntries },
      SANDBOX_REPORTS.directories,
      request,
    );
    return report.directories;
  },

  async diff(sandbox, request) {
    const { sessionId, statOnly, file, maxBytes } = request;
    const pairs = request.pairs.map(({ path, from, to, fromMeta = null, toMeta = null }) => ({
      path,
      from,
      to,
      fromMeta,
      toMeta,
    }));
    const report = await program.call(
      sandbox,
      {
        kind: 'diff',
        sessionId,
        pairs,
        statOnly,
        file: file === undefined ? null : { path: file.file, context: file.context },
        maxBytes,
      },
      SANDBOX_REPORTS.diff,
      request,
    );
    if (file === undefined || statOnly) return report.repositories;
    return report.repositories.map(({ path, truncated, missing, diff }) => {
      // Nothing but the file was asked for, so the state of the repository beside it is not told.
      const told = fileDiffOf(diff, truncated);
      return { path, truncated, missing, ...told, files: told.diff === '' ? 0 : 1 };
    });
  },
});

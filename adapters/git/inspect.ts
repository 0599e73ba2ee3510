/** Commands that only look: survey, directories, diff. One round trip each. */
import { SANDBOX_REPORTS } from '../../contract/sandbox/reports.ts';
import type { Repositories } from '../../core/checkpoint/ports/repositories.ts';
import { fileDiffCommand, readFileDiff } from './file-diff.ts';
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
    const { sessionId, file, maxBytes } = request;
    const statOnly = request.statOnly || file !== undefined;
    const pairs = request.pairs.map(({ path, from, to, fromMeta = null, toMeta = null }) => ({
      path,
      from,
      to,
      fromMeta,
      toMeta,
    }));
    const report = await program.call(
      sandbox,
      { kind: 'diff', sessionId, pairs, statOnly, maxBytes },
      SANDBOX_REPORTS.diff,
      request,
    );
    if (file === undefined) return report.repositories;
    // One repository alone was asked for.
    return Promise.all(
      report.repositories.map(async (one, at) => {
        const pair = pairs[at];
        if (one.missing || pair === undefined || request.statOnly) return one;
        const command = fileDiffCommand({ sessionId, pair, ...file, maxBytes });
        const result = await sandbox.run(command, {
          cwd: request.projectsRoot,
          timeoutMs: request.timeoutMs,
        });
        const { diff, ...counts } = readFileDiff(result, maxBytes);
        // Nothing but the file was asked for, so the state of the repository beside it is not told.
        const { host: _, ...rest } = one;
        return { ...rest, diff, ...counts, files: diff === '' ? 0 : 1 };
      }),
    );
  },
});

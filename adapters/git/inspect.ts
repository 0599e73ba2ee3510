/** Commands that only look: survey, directories, diff. One round trip each. */
import { SANDBOX_REPORTS } from '../../contract/sandbox/reports.ts';
import type { Repositories } from '../../core/checkpoint/ports/repositories.ts';
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
    const { sessionId, statOnly, maxBytes } = request;
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
    return report.repositories;
  },
});

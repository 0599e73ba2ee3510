/** Commands that only look: survey, directories, diff. One round trip each. */
import { SANDBOX_REPORTS } from '../../contract/sandbox/reports.ts';
import type { Repositories } from '../../core/checkpoint/ports/repositories.ts';
import type { SandboxProgram } from './program/call.ts';

type Inspection = Pick<Repositories, 'survey' | 'directories' | 'diff'>;

interface FileDiff {
  diff: string;
  added: number;
  deleted: number;
}

/** The text and its counts. A text that was cut ends with a whole line. */
const fileDiffOf = (text: string, truncated: boolean): FileDiff => {
  const diff = truncated ? text.slice(0, text.lastIndexOf('\n') + 1) : text;
  const lines = diff.slice(Math.max(0, diff.indexOf('\n@@'))).split('\n');
  const count = (mark: string): number => lines.filter((line) => line.startsWith(mark)).length;
  const isText = diff.includes('\n@@');
  return { diff, added: isText ? count('+') : 0, deleted: isText ? count('-') : 0 };
};

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

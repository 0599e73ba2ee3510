/** Another process of the fake sandbox that writes into a file while a restore is at work. */
import type { RestoreReport } from '../../../core/checkpoint/ports/restore.ts';
import type { Stage } from './stage.ts';

export const LATE_DIRECTORY = '/projects/.agent-shadow/aside-session-1/call/0.1/files';

/** During the next restore that writes, this file gets this text, in a repository that is captured by then. `others` are named beside it. */
export const writeLate = (
  stage: Stage,
  { path, file, text, others = [] }: { path: string; file: string; text: string; others?: string[] },
) => {
  const { repositories, running } = stage.world;
  const capture = repositories.capture.bind(repositories);
  const restore = repositories.restore.bind(repositories);
  const lateStored = repositories.lateStored.bind(repositories);
  let wrote = false;
  let kept = false;
  let stored = '';
  repositories.restore = async (sandbox, request): Promise<RestoreReport> => {
    const report = await restore(sandbox, request);
    if (report.outcome === 'applied' && !wrote) wrote = kept = true;
    const aside = { path, directory: LATE_DIRECTORY, late: [file], open: [] };
    return kept ? { ...report, asides: [aside] } : report;
  };
  repositories.capture = async (sandbox, request, ...rest) => {
    const inside = running.get(sandbox.sandboxId);
    if (request.late !== true || inside === undefined) return capture(sandbox, request, ...rest);
    const before = inside.repositories;
    inside.repositories = new Map(
      request.known.flatMap((known) => {
        const found = inside.snapshots.get(`${known.path}\n${known.tree}\n${known.meta}`)?.repository;
        if (found === undefined) return [];
        const files = known.path === path && kept ? { ...found.files, [file]: text } : found.files;
        return [[known.path, { ...found, files }]];
      }),
    );
    try {
      stored = request.toolExecutionId;
      return {
        ...(await capture(sandbox, request, ...rest)),
        late: kept ? [`${path}/${file}`, ...others] : [],
      };
    } finally {
      inside.repositories = before;
    }
  };
  repositories.lateStored = async (sandbox, request) => {
    await lateStored(sandbox, request);
    if (request.toolExecutionId === stored) kept = false;
  };
  return { isKept: () => kept };
};

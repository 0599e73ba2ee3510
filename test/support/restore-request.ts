import type { CapturedState, RestoreRequest } from '../../core/checkpoint/ports/restore.ts';

/** A restore of the repository `app`, where a test does not say otherwise. */
export const restoreRequest = (
  projectsRoot: string,
  target: CapturedState,
  { now = null, ...one }: Partial<RestoreRequest['repositories'][number]>,
  more: Partial<RestoreRequest> = {},
): RestoreRequest => ({
  sessionId: 's1',
  projectsRoot,
  filesOnly: false,
  dryRun: false,
  include: [],
  exclude: [],
  maxFileBytes: 1 << 20,
  maxDepth: 4,
  timeoutMs: 60_000,
  repositories: [{ path: 'app', target, now, undo: now, bundles: [], ...one }],
  ...more,
});

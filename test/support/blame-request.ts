import type { BlameRequest } from '../../core/checkpoint/ports/blame.ts';

/** Who wrote `a.txt` of the repository `app`, where a test does not say otherwise. */
export const blameRequest = (
  projectsRoot: string,
  nodes: BlameRequest['nodes'],
  more: Partial<BlameRequest> = {},
): BlameRequest => ({
  sessionId: 's1',
  projectsRoot,
  path: 'app',
  objectFormat: 'sha1',
  file: 'a.txt',
  nodes,
  bases: [],
  shallow: false,
  from: 1,
  mostLines: 10,
  maxFileBytes: 1000,
  bundles: [],
  timeoutMs: 60_000,
  ...more,
});

/** A session as `timeline` and `list-sessions` answer it. */
import type { ListedSession } from '../../contract/checkpoint-answers.ts';

const AT = '2026-01-02T10:00:00.000Z';

export const listedSession = <More extends object>(sessionId: string, more: More) =>
  ({
    sessionId,
    status: 'active' as const,
    epoch: 1,
    headSeq: 1,
    seq: 1,
    sandboxId: 'sb',
    projectsRoot: '/work',
    template: null,
    include: [],
    exclude: [],
    maxFileBytes: 1,
    retentionDays: 30,
    metadata: {},
    tenant: null,
    lines: { added: 0, deleted: 0 },
    repositories: 1,
    busy: null,
    createdAt: AT,
    updatedAt: AT,
    expiresAt: 0,
    ...more,
  }) satisfies ListedSession;

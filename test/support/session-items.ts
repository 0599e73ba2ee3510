/** Minimal items of a Sessions table, for tests of the store. */
import type { ChainLink, StoredBase } from '../../core/checkpoint/bundles.ts';
import type { RehydrateJournal, RollbackJournal } from '../../core/checkpoint/journals.ts';
import type { Checkpoint, Session } from '../../core/checkpoint/model.ts';

const AT = '2026-01-01T00:00:00.000Z';

export const sessionOf = (sessionId: string, more: Partial<Session> = {}): Session => ({
  sessionId,
  epoch: 1,
  version: 1,
  seq: 1,
  headSeq: 1,
  messageCount: 0,
  lines: { added: 0, deleted: 0 },
  repositoryCount: 1,
  sandboxId: 'sbx',
  projectsRoot: '/projects',
  template: undefined,
  include: [],
  exclude: [],
  maxFileBytes: 1,
  retentionDays: 30,
  metadata: {},
  status: 'active',
  requestHash: 'h',
  createdAt: AT,
  updatedAt: AT,
  expiresAt: 1000,
  ...more,
});

export const baseOf = (name: string, key: string): StoredBase => ({
  name,
  owner: 'tenant/a',
  commit: 'x',
  key,
  sizeBytes: 1,
  sha256: 'a',
  shallow: false,
  partial: false,
  expiresAt: 50,
});

const CAPTURE = { state: 'captured', commit: 'c', tree: 't', meta: 'm' } as const;

export const checkpointOf = (sessionId: string, seq: number, more: Partial<Checkpoint> = {}): Checkpoint => ({
  sessionId,
  checkpointId: `cp-${seq}`,
  seq,
  parentSeq: seq === 1 ? null : seq - 1,
  epoch: 1,
  messageId: null,
  messageOrder: null,
  toolExecutionId: `t${seq}`,
  reason: 'before-tool',
  complete: true,
  repositories: [{ path: 'app', ...CAPTURE, changed: true, bundleBytes: 3 }],
  failures: [],
  skipped: [],
  sandboxId: 'sbx',
  detached: false,
  createdAt: AT,
  expiresAt: 1000,
  ...more,
});

export const rollbackOf = (sessionId: string, requestId: string): RollbackJournal => ({
  sessionId,
  requestId,
  requestHash: 'h',
  phase: 'started',
  epoch: 2,
  sandboxId: 'sbx',
  detached: false,
  filesOnly: false,
  allowPartial: false,
  targetSeq: 1,
  captures: 0,
  startedAt: AT,
  updatedAt: AT,
  expiresAt: 1000,
});

export const rehydrateOf = (sessionId: string, requestId: string): RehydrateJournal => ({
  sessionId,
  requestId,
  requestHash: 'h',
  phase: 'started',
  mode: 'review',
  targetSeq: 1,
  attempt: 1,
  sandboxTimeoutMs: 1,
  startedAt: AT,
  updatedAt: AT,
  expiresAt: 1000,
});

export const linkOf = (sessionId: string, at: number): ChainLink => ({
  sessionId,
  repositoryPath: 'app',
  chainId: 'chain',
  link: at,
  commit: `c${at}`,
  previous: at === 0 ? null : `c${at - 1}`,
  bundle: { key: `k${at}`, sizeBytes: at, sha256: 'x' },
  expiresAt: 1000,
});

/** A checkpoint of so many repositories. */
export const wideCheckpointOf = (
  sessionId: string,
  seq: number,
  count: number,
  pathLength = 200,
): Checkpoint =>
  checkpointOf(sessionId, seq, {
    repositories: Array.from({ length: count }, (_, at) => ({
      path: `repository-${at}`.padEnd(pathLength, 'x'),
      ...CAPTURE,
      changed: false,
      bundleBytes: 0,
    })),
  });

/**
 * Turns stored items into answers of the functions: exactly the shapes of contract/checkpoint-answers.ts and its neighbours.
 */
import type { Uncaptured } from '../../../contract/answer-fields.ts';
import type {
  CheckpointAnswer,
  SessionAnswer,
  StartSessionAnswer,
  TimelineCheckpoint,
} from '../../../contract/checkpoint-answers.ts';
import type { Checkpoint, RepositoryState, Session } from '../model.ts';
import type { CheckpointOutline } from '../ports/stores.ts';

const listed = (items: readonly Uncaptured[], what: string): string[] =>
  items.map(({ path, reason }) => `${path}: ${what}: ${reason}`);

export const startSessionAnswer = (baseline: Checkpoint): StartSessionAnswer => ({
  sessionId: baseline.sessionId,
  epoch: baseline.epoch,
  checkpointId: baseline.checkpointId,
  complete: baseline.complete,
  repositories: baseline.repositories.map(({ path, branch, head, commits }) => ({
    path,
    branch: branch ?? null,
    head: head ?? null,
    commits: commits ?? 0,
    // The survey counts the commits of repositories alone.
    ...(path === '.' && commits === undefined && { isLoose: true as const }),
  })),
  warnings: [
    ...listed(baseline.failures, 'not captured'),
    ...listed(baseline.skipped, 'left out'),
    ...baseline.repositories
      .filter(({ partial }) => partial === true)
      .map(
        ({ path }) => `${path}: partial clone: objects that were never fetched are not in the base bundle`,
      ),
  ],
});

export const checkpointAnswer = (checkpoint: Checkpoint): CheckpointAnswer => ({
  checkpointId: checkpoint.checkpointId,
  seq: checkpoint.seq,
  epoch: checkpoint.epoch,
  messageId: checkpoint.messageId,
  complete: checkpoint.complete,
  repositories: checkpoint.repositories.map((repository) => ({
    path: repository.path,
    // A repository that failed or is gone keeps an older commit on record, which does not belong to this
    // checkpoint.
    commit: repository.state === 'captured' ? repository.commit : null,
    state: repository.state,
    changed: repository.changed,
    ...(repository.change && { change: repository.change }),
    bundleBytes: repository.bundleBytes,
  })),
  failures: checkpoint.failures,
  skipped: checkpoint.skipped,
  ...(checkpoint.settledRollback && { settledRollback: checkpoint.settledRollback }),
});

export const sessionAnswer = (session: Session, headCheckpointId: string | null): SessionAnswer => ({
  sessionId: session.sessionId,
  status: session.status,
  epoch: session.epoch,
  headSeq: session.headSeq,
  headCheckpointId,
  seq: session.seq,
  sandboxId: session.sandboxId,
  projectsRoot: session.projectsRoot,
  template: session.template ?? null,
  include: session.include,
  exclude: session.exclude,
  maxFileBytes: session.maxFileBytes,
  retentionDays: session.retentionDays,
  metadata: session.metadata,
  tenant: session.tenant ?? null,
  ...(session.project !== undefined && { project: session.project }),
  ...(session.forkedFrom && {
    forkedFrom: { sessionId: session.forkedFrom.sessionId, checkpointId: session.forkedFrom.checkpointId },
  }),
  lines: session.lines,
  repositories: session.repositoryCount,
  busy: session.busy ?? null,
  ...(session.settledRollback && { settledRollback: session.settledRollback }),
  createdAt: session.createdAt,
  updatedAt: session.updatedAt,
  expiresAt: session.expiresAt,
});

const numbersOf = ({ content }: Checkpoint, { path, changed }: RepositoryState) => {
  const summary = changed ? content?.changes?.find((one) => one.path === path) : undefined;
  if (summary === undefined) return {};
  const { files, added, deleted } = summary;
  return { changes: { files, added, deleted } };
};

/** Of a list that asks for no repositories. */
export const briefCheckpoint = (outline: CheckpointOutline, onHeadPath: boolean): TimelineCheckpoint => ({
  checkpointId: outline.checkpointId,
  seq: outline.seq,
  epoch: outline.epoch,
  complete: outline.complete,
  parentSeq: outline.parentSeq,
  messageId: outline.messageId,
  toolExecutionId: outline.toolExecutionId,
  reason: outline.reason,
  sandboxId: outline.sandboxId,
  detached: outline.detached,
  onHeadPath,
  createdAt: outline.createdAt,
  lines: outline.lines,
  repositories: [],
  failures: [],
  skipped: [],
  ...(outline.tool !== undefined && { tool: { name: outline.tool } }),
  ...(outline.by && { by: outline.by }),
  ...(outline.halfWritten && { halfWritten: true }),
});

export const timelineCheckpoint = (checkpoint: Checkpoint, onHeadPath: boolean): TimelineCheckpoint => ({
  ...checkpointAnswer(checkpoint),
  parentSeq: checkpoint.parentSeq,
  toolExecutionId: checkpoint.toolExecutionId,
  reason: checkpoint.reason,
  sandboxId: checkpoint.sandboxId,
  detached: checkpoint.detached,
  onHeadPath,
  createdAt: checkpoint.createdAt,
  ...(checkpoint.content?.tool && { tool: { name: checkpoint.content.tool.name } }),
  ...(checkpoint.by && { by: checkpoint.by }),
  ...(checkpoint.halfWritten && { halfWritten: true }),
  repositories: checkpoint.repositories.map((state) => ({
    path: state.path,
    state: state.state,
    commit: state.commit ?? null,
    changed: state.changed,
    ...(state.change && { change: state.change }),
    bundleBytes: state.bundleBytes,
    branch: state.branch ?? null,
    head: state.head ?? null,
    ...numbersOf(checkpoint, state),
  })),
});

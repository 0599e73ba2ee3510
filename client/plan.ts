/** A rollback before it is made: what it would change, and the way to make exactly this request. */
import type { RollbackAnswer, StandingEffect } from '../contract/rollback-answers.ts';
import { freshId } from './ids.ts';
import type { CallOptions, Invoke } from './invoke.ts';
import { type Point, targetOfPoint } from './point.ts';

export interface RollbackOptions {
  /**
   * A message (the end of its work) or a checkpoint. Work of a turn that was cut may be in no checkpoint yet:
   * `MessageNotFound` says so, and after `session.checkpoint()` there is one.
   */
  to: Point;
  /** The same id finishes or answers the same rollback. Default: a new one. */
  requestId?: string;
  /**
   * The epoch in which it was decided (`plan.epoch`, `session.epoch`). If somebody moved the session since,
   * `StaleEpoch` is thrown and nothing is changed. Default: rolls back whatever was done since.
   */
  epoch?: number;
  /** Leaves HEAD, branches and index as they are. */
  filesOnly?: boolean;
  /** Accepts a target that is not complete. */
  allowPartial?: boolean;
  /** Only these: files, directories or whole repositories, relative to the projects root. All else stays. */
  paths?: string[];
  /** Sandbox of a review copy, to roll that back. */
  sandboxId?: string;
}

/** The kinds of these options, for `requireOnly`. */
export const ROLLBACK = {
  to: 'point',
  'requestId?': 'text',
  'epoch?': 'number',
  'filesOnly?': 'boolean',
  'allowPartial?': 'boolean',
  'paths?': 'list',
  'sandboxId?': 'text',
} as const;

/** What a rollback would do. Nothing is changed until `apply`. */
export interface Plan {
  readonly requestId: string;
  /** The epoch for which the plan holds. */
  readonly epoch: number;
  /** What each repository would lose and get: files with `paths`, and `host` for HEAD, branches and index. */
  readonly repositories: RollbackAnswer['repositories'];
  /** Effects of later sagas that stand. Files go back, effects do not. */
  readonly effects: readonly StandingEffect[];
  readonly discardedMessageIds: readonly string[];
  readonly warnings: readonly string[];
  /** The whole answer. */
  readonly answer: RollbackAnswer;
  /**
   * Makes the rollback: all repositories or none, to the checkpoint of the plan. `StaleEpoch` when somebody moved the session since the plan
   * was made: nothing is changed, and a new plan says what would be done now. Called again, also after an
   * abort or a lost answer, it finishes or answers the same rollback.
   */
  apply(call?: CallOptions): Promise<RollbackAnswer>;
}

export interface PlanDeps {
  invoke: Invoke;
  sessionId: string;
  /** Called after the rollback was made. */
  moved(answer: Pick<RollbackAnswer, 'epoch' | 'trimAfterMessageId'>): void;
}

const requestFor = (sessionId: string, options: RollbackOptions) => {
  const { to, requestId = freshId('rollback'), epoch, filesOnly, allowPartial, paths, sandboxId } = options;
  return {
    ...targetOfPoint(to),
    sessionId,
    requestId,
    ...(epoch === undefined ? {} : { epoch }),
    ...(filesOnly === undefined ? {} : { filesOnly }),
    ...(allowPartial === undefined ? {} : { allowPartial }),
    ...(paths === undefined ? {} : { paths }),
    ...(sandboxId === undefined ? {} : { sandboxId }),
  };
};

/** Of a message too, that a plan went to: by the time of the act it may have a newer one. */
export const plannedTarget = ({ pathsFrom, checkpointId }: RollbackAnswer): string =>
  pathsFrom ?? checkpointId;

export const planRollback = async (
  deps: PlanDeps,
  options: RollbackOptions,
  given?: CallOptions,
): Promise<Plan> => {
  const request = requestFor(deps.sessionId, options);
  const answer = await deps.invoke('rollback', { ...request, dryRun: true }, given);
  const checkpointId = plannedTarget(answer);
  return {
    requestId: request.requestId,
    epoch: answer.epoch,
    repositories: answer.repositories,
    effects: answer.effects ?? [],
    discardedMessageIds: answer.discardedMessageIds,
    warnings: answer.warnings,
    answer,
    apply: async (call) => {
      const made = await deps.invoke('rollback', { epoch: answer.epoch, ...request, checkpointId }, call);
      if (request.sandboxId === undefined) deps.moved(made);
      return made;
    },
  };
};

export const makeRollback = async (
  deps: PlanDeps,
  options: RollbackOptions,
  call?: CallOptions,
): Promise<RollbackAnswer> => {
  const answer = await deps.invoke('rollback', requestFor(deps.sessionId, options), call);
  if (options.sandboxId === undefined) deps.moved(answer);
  return answer;
};

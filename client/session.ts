/** One session: its checkpoints, its runs, and the ways back. */
import type { CheckpointAnswer } from '../contract/checkpoint-answers.ts';
import type { RequestOf } from '../contract/invoke.ts';
import type { RollbackAnswer } from '../contract/rollback-answers.ts';
import { diffAnywhere } from './diff-copy.ts';
import { errors } from './errors.ts';
import { requireFields } from './given.ts';
import { fitId, freshId } from './ids.ts';
import type { Invoke } from './invoke.ts';
import { checkpointAt, type Place, placeOf } from './place.ts';
import { makeRollback, type Plan, type PlanDeps, planRollback, type RollbackOptions } from './plan.ts';
import { type Point, targetOfPoint } from './point.ts';
import type { Answer, Asker, Request } from './requests.ts';
import { createRun, type Run, type RunDeps, type RunOptions } from './run.ts';
import { type MessageText, saidMessage, saidTool } from './said.ts';
import { findUndo, NOTHING, type Way } from './undo.ts';

export interface CheckpointOptions {
  /** The last message whose work is in the repositories. Default: that of the newest tool, whoever ran it. */
  messageId?: string;
  /** The same id answers the same checkpoint. Default: a new one. */
  id?: string;
  /** For people. */
  reason?: string;
  /** What the message says, to be read later. */
  message?: MessageText;
  /** The tool call to come, to be read later. */
  tool?: { name: string; input?: unknown };
}

export type RewindOptions = Omit<
  RequestOf<'rewind-session'>,
  'sessionId' | 'to' | 'requestId' | 'by' | 'proof'
> &
  Asker & {
    to: Point;
    /** The same id goes on with the same rewind. Default: a new one. */
    requestId?: string;
  };

/** A request to this session; without an id it is a new one. */
type Composed<Name extends 'revert' | 'fork-session'> = Omit<Request<Name>, 'sessionId' | 'requestId'> & {
  requestId?: string;
};

export type MergeOptions = Omit<Request<'merge'>, 'from' | 'into' | 'requestId'> & { requestId?: string };

export interface ForkOptions extends Composed<'fork-session'> {
  /** Instead of `messageId` or `checkpointId`. Default: the head. */
  to?: Point;
}

/** A fork, and the session to work with it. Its files on this machine: `walkback.sessions.directoryOf(fork)`. */
export interface Fork extends Answer<'fork-session'> {
  session: Session;
}

export interface RehydrateOptions
  extends Pick<RequestOf<'rehydrate'>, 'mode' | 'requestId' | 'template' | 'timeoutMs'> {
  /** Default: the head. */
  to?: Point;
}

/** A session: one or more repositories of one sandbox, and the tree of their checkpoints. */
export interface Session {
  readonly sessionId: string;
  /** Counts rollbacks and resumes; what runs under an older one is stale. */
  readonly epoch: number;
  /** One turn of the agent. */
  run(options?: RunOptions): Run;
  /** Captures all repositories now. */
  checkpoint(options?: CheckpointOptions): Promise<CheckpointAnswer>;
  /** What going back would change; `plan.apply()` does it. */
  plan(options: RollbackOptions): Promise<Plan>;
  /** Goes back without a plan first. */
  rollback(options: RollbackOptions): Promise<RollbackAnswer>;
  /**
   * Takes back the last rollback, merge or revert that stands, again: the one before it, as an editor does. `CheckpointNotFound` when there is
   * none. Work that was done since is captured first.
   */
  undo(): Promise<RollbackAnswer>;
  /** Makes the rollback again that was undone last. New checkpoints after the undo end that (`CheckpointNotFound`). */
  redo(): Promise<RollbackAnswer>;
  /** Takes back what one message, some checkpoints or the session in some paths changed, and keeps later work. */
  revert(options: Composed<'revert'>): Promise<RollbackAnswer>;
  /** A session of its own at a checkpoint of this one (default: the head), in a fresh sandbox. */
  fork(options?: ForkOptions): Promise<Fork>;
  /** Brings the work of a fork of this session in: all repositories, or none with `ChangesetConflict`. */
  merge(from: { sessionId: string }, options?: MergeOptions): Promise<Answer<'merge'>>;
  /** Takes back effects of sagas, then files, then says where to cut the conversation. */
  rewind(options: RewindOptions): Promise<Answer<'rewind-session'>>;
  /** Builds a checkpoint in a fresh sandbox: a copy to look at, or the place where the session goes on. */
  rehydrate(options?: RehydrateOptions): Promise<Answer<'rehydrate'>>;
  /**
   * Compares two points: messages, checkpoints, `head` or `now`. Where the session's sandbox does not hold both, it is done in
   * a review copy, and the answer's warnings say so.
   */
  diff(options: Omit<Request<'diff'>, 'sessionId'>): Promise<Answer<'diff'>>;
  /** What a checkpoint or a message changed, with its patch and what was said. Needs no sandbox. One page: a `cursor` in it begins the next. */
  changes(options: Omit<Request<'changes'>, 'sessionId'>): Promise<Answer<'changes'>>;
  /** Messages, and checkpoints, the newest first. One page of 50 checkpoints, or of `limit`: a `cursor` in it begins the next. */
  timeline(options?: Omit<Request<'timeline'>, 'sessionId'>): Promise<Answer<'timeline'>>;
  /**
   * Whether work is done: runs commands in a fresh copy of a checkpoint (default: the head), which is killed again. What no
   * checkpoint holds is not in the copy.
   */
  verify(
    commitments: Request<'verify-commitments'>['commitments'],
    options?: { to?: Point; template?: string; allowPartial?: boolean; requestId?: string },
  ): Promise<Answer<'verify-commitments'>>;
  /** Whether the sandbox of this session has what work in it needs. `needs`: commands, beside what Walkback needs. */
  preflight(options?: { needs?: string[]; requestId?: string }): Promise<Answer<'preflight'>>;
  /** Text for the agent's system prompt about its repositories. */
  context(): Promise<Answer<'context'>>;
  /** Reads where the session stands now. Call it after somebody else rolled back. */
  refresh(): Promise<void>;
  /** `discard`, of a fork: kills its sandbox too. */
  end(options?: { discard?: boolean }): Promise<Answer<'end-session'>>;
}

export interface SessionDeps extends Pick<RunDeps, 'signal' | 'onCheckpointError' | 'onWarning' | 'redact'> {
  invoke: Invoke;
}

export const createSession = (deps: SessionDeps, sessionId: string, begin: Place): Session => {
  const { invoke, redact } = deps;
  const place: Place = { ...begin };

  const refresh = async (): Promise<void> => {
    Object.assign(place, placeOf(await invoke('timeline', { sessionId, limit: 1 })));
  };

  const rollbacks: PlanDeps = {
    invoke,
    sessionId,
    moved: ({ epoch }) => {
      place.epoch = epoch;
    },
  };

  const goBack = async (way: Way): Promise<RollbackAnswer> => {
    const checkpointId = await findUndo(way, (page) => invoke('timeline', { sessionId, ...page }));
    if (checkpointId === undefined) throw new errors.CheckpointNotFound(NOTHING[way]);
    return makeRollback(rollbacks, { to: { checkpointId } });
  };

  return {
    sessionId,
    get epoch() {
      return place.epoch;
    },
    run: (options = {}) => createRun({ ...deps, sessionId, place }, options),
    checkpoint: async (options = {}) => {
      requireFields('session.checkpoint', options, {
        'messageId?': 'text',
        'id?': 'text',
        'message?': 'object',
        'tool?': 'object',
      });
      const { messageId, id, reason = 'checkpoint', message: text, tool } = options;
      const toolExecutionId = fitId(id ?? freshId('checkpoint'));
      return checkpointAt(place, invoke, {
        sessionId,
        epoch: place.epoch,
        ...(messageId !== undefined && { messageId: fitId(messageId) }),
        toolExecutionId,
        reason,
        ...saidMessage(text, redact),
        ...(tool && saidTool(tool, redact)),
      });
    },
    plan: async (options) => {
      requireFields('session.plan', options, { to: 'point' });
      return planRollback(rollbacks, options);
    },
    rollback: async (options) => {
      requireFields('session.rollback', options, { to: 'point' });
      return makeRollback(rollbacks, options);
    },
    undo: () => goBack('undo'),
    redo: () => goBack('redo'),
    revert: async (given) => {
      requireFields('session.revert', given, {});
      const { requestId = freshId('revert'), ...options } = given;
      const answer = await invoke('revert', { ...options, sessionId, requestId });
      if (answer.status === 'APPLIED') rollbacks.moved(answer);
      return answer;
    },
    fork: async (given = {}) => {
      requireFields('session.fork', given, { 'to?': 'point' });
      const { to, requestId = freshId('fork'), ...options } = given;
      if (to !== undefined && (options.messageId ?? options.checkpointId) !== undefined) {
        throw new errors.InvalidInput(
          'session.fork: give to, or messageId or checkpointId, and not both. They say the same.',
        );
      }
      const target = to === undefined ? {} : targetOfPoint(to);
      const answer = await invoke('fork-session', { ...options, ...target, sessionId, requestId });
      const begun: Place = { epoch: answer.epoch, seq: 1 };
      return { session: createSession(deps, answer.sessionId, begun), ...answer };
    },
    merge: async (from, given = {}) => {
      requireFields(
        'session.merge',
        { from, options: given },
        { 'from.sessionId': 'text', options: 'object' },
      );
      const { requestId = freshId('merge'), ...options } = given;
      const answer = await invoke('merge', { ...options, from: from.sessionId, into: sessionId, requestId });
      if (answer.status === 'APPLIED') rollbacks.moved(answer);
      return answer;
    },
    rewind: async (given) => {
      requireFields('session.rewind', given, { to: 'point' });
      const { to, requestId = freshId('rewind'), ...options } = given;
      const target = targetOfPoint(to);
      const answer = await invoke('rewind-session', { ...options, sessionId, requestId, to: target });
      if (answer.status !== 'PLANNED') await refresh();
      return answer;
    },
    rehydrate: async (given = {}) => {
      requireFields('session.rehydrate', given, { 'to?': 'point' });
      const { to, requestId = freshId('rehydrate'), ...options } = given;
      const target = to === undefined ? {} : targetOfPoint(to);
      const answer = await invoke('rehydrate', { ...options, ...target, sessionId, requestId });
      if (options.mode === 'resume') await refresh();
      return answer;
    },
    diff: async (options) => {
      requireFields('session.diff', options, { from: 'text', to: 'text' });
      return diffAnywhere(
        {
          diff: (request) => invoke('diff', request),
          rehydrate: (request) => invoke('rehydrate', request),
          rollback: (request) => invoke('rollback', request),
          freshId,
        },
        { ...options, sessionId },
      );
    },
    changes: async (options) => {
      requireFields('session.changes', options, {});
      return invoke('changes', { ...options, sessionId });
    },
    timeline: async (options = {}) => {
      requireFields('session.timeline', options, {});
      return invoke('timeline', { ...options, sessionId });
    },
    verify: async (commitments, given = {}) => {
      requireFields('session.verify', { ...given, commitments }, { commitments: 'list', 'to?': 'point' });
      const { to, ...options } = given;
      const target = to === undefined ? {} : targetOfPoint(to);
      return invoke('verify-commitments', { ...options, ...target, sessionId, commitments });
    },
    preflight: async (options = {}) => {
      const { session } = await invoke('timeline', { sessionId, limit: 1 });
      return invoke('preflight', {
        sandboxId: session.sandboxId,
        projectsRoot: session.projectsRoot,
        ...options,
      });
    },
    context: () => invoke('context', { sessionId }),
    refresh,
    end: (options = {}) => invoke('end-session', { ...options, sessionId }),
  };
};

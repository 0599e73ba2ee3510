/** One session: its checkpoints, its runs, and the ways back. */
import type { CheckpointAnswer } from '../contract/checkpoint-answers.ts';
import type { RequestOf } from '../contract/invoke.ts';
import type { RewindRequest } from '../contract/rewind.ts';
import type { RollbackAnswer } from '../contract/rollback-answers.ts';
import { blameAnywhere } from './blame-copy.ts';
import { diffAnywhere } from './diff-copy.ts';
import { errors } from './errors.ts';
import { requireFields, requireOnly } from './given.ts';
import { fitId, freshId } from './ids.ts';
import type { CallOptions, Invoke } from './invoke.ts';
import { checkpointAt, type KnownPosition, timelinePosition } from './place.ts';
import {
  makeRollback,
  type Plan,
  type PlanDeps,
  planRollback,
  ROLLBACK,
  type RollbackOptions,
} from './plan.ts';
import { type Point, targetOfPoint, withFitMessage } from './point.ts';
import type { Answer, Request, RewindOf } from './requests.ts';
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

/** An empty object says nothing: leave it out, or name a field. */
export type SomeOf<Options> = {
  [Name in keyof Options]-?: Options & Required<Pick<Options, Name>>;
}[keyof Options];

export type RewindOptions = RewindOf<Omit<RewindRequest['session'], 'to'> & { to: Point }>;

/** A request to this session. Without an id it is a new one. */
type Composed<Name extends 'revert' | 'fork-session'> = Omit<Request<Name>, 'sessionId' | 'requestId'> & {
  requestId?: string;
};

/** What is taken back: the work of a message, of some checkpoints, or all of it in some paths. */
type Reverted =
  | { messageId: string; checkpointIds?: never }
  | { checkpointIds: string[]; messageId?: never }
  | { paths: string[]; messageId?: never; checkpointIds?: never };

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
  extends Pick<RequestOf<'rehydrate'>, 'mode' | 'requestId' | 'epoch' | 'template' | 'timeoutMs'> {
  /** Default: the head. */
  to?: Point;
}

export interface UndoOptions extends CallOptions {
  /**
   * The epoch that you last saw (`session.epoch` before the call). An undo may have been made although its
   * answer was lost: asked again with the same epoch it is then `StaleEpoch`, and never goes one step
   * further. Default: the present epoch.
   */
  epoch?: number;
}

/** A session: one or more repositories of one sandbox, and the tree of their checkpoints. */
export interface Session {
  readonly sessionId: string;
  /** Counts rollbacks and resumes. Work that runs under an older epoch is stale. */
  readonly epoch: number;
  /** One turn of the agent. */
  run(options?: RunOptions): Run;
  /** Captures all repositories now. */
  checkpoint(options?: SomeOf<CheckpointOptions>, call?: CallOptions): Promise<CheckpointAnswer>;
  /** What going back would change; `plan.apply()` does it. */
  plan(options: RollbackOptions, call?: CallOptions): Promise<Plan>;
  /** Goes back without a plan first. */
  rollback(options: RollbackOptions, call?: CallOptions): Promise<RollbackAnswer>;
  /**
   * Takes back the last rollback, merge or revert that stands. Called again, it takes back the one before,
   * like an editor. `CheckpointNotFound` when there is none. Work that was done since is captured first. An
   * undo whose answer was lost may have been made: ask again with its `epoch`.
   */
  undo(options?: UndoOptions): Promise<RollbackAnswer>;
  /**
   * Makes the last undone rollback again. New checkpoints after the undo end this possibility
   * (`CheckpointNotFound`).
   */
  redo(options?: UndoOptions): Promise<RollbackAnswer>;
  /** Takes back what one message, some checkpoints or the session in some paths changed, and keeps later work. */
  revert(options: Composed<'revert'> & Reverted, call?: CallOptions): Promise<RollbackAnswer>;
  /** A new session at a checkpoint of this one (default: the head), in a fresh sandbox. */
  fork(options?: ForkOptions, call?: CallOptions): Promise<Fork>;
  /** Brings in the work of a fork of this session: all repositories, or none with `ChangesetConflict`. */
  merge(from: { sessionId: string }, options?: MergeOptions, call?: CallOptions): Promise<Answer<'merge'>>;
  /** Takes back effects of sagas, then files, then says where to cut the conversation. */
  rewind(options: RewindOptions, call?: CallOptions): Promise<Answer<'rewind'>>;
  /** Rebuilds a checkpoint in a fresh sandbox: a copy to look at, or the place where the session goes on. */
  rehydrate(options?: RehydrateOptions, call?: CallOptions): Promise<Answer<'rehydrate'>>;
  /**
   * Compares two points: messages, checkpoints, `head` or `now`. If the session's sandbox does not hold both,
   * this is done in a review copy, and the answer's warnings say so.
   */
  diff(options: Omit<Request<'diff'>, 'sessionId'>, call?: CallOptions): Promise<Answer<'diff'>>;
  /**
   * Who wrote each line of a file: the message and tool call, the fork that it came from, or the commit from before
   * the session. `at`: a message, a checkpoint, `head` or `now` (the default). Answers at most 2,000 lines; its
   * `nextLine` begins the next. Where the session's sandbox is gone, this is done in a review copy.
   */
  blame(
    path: string,
    options?: Omit<Request<'blame'>, 'sessionId' | 'path'>,
    call?: CallOptions,
  ): Promise<Answer<'blame'>>;
  /**
   * What a checkpoint or a message changed, with its patch and what was said. Needs no sandbox. Answers one
   * page; its `cursor` begins the next.
   */
  changes(options: Omit<Request<'changes'>, 'sessionId'>, call?: CallOptions): Promise<Answer<'changes'>>;
  /**
   * Messages and checkpoints, newest first. Answers one page of 50 checkpoints, or of `limit`; its `cursor`
   * begins the next.
   */
  timeline(options?: Omit<Request<'timeline'>, 'sessionId'>, call?: CallOptions): Promise<Answer<'timeline'>>;
  /**
   * Verifies that work is done: runs commands in a fresh copy of a checkpoint (default: the head), and kills
   * the copy. What no checkpoint holds is not in the copy.
   */
  verify(
    commitments: Request<'verify-commitments'>['commitments'],
    options?: { to?: Point; template?: string; allowPartial?: boolean; requestId?: string },
    call?: CallOptions,
  ): Promise<Answer<'verify-commitments'>>;
  /**
   * Checks whether the sandbox of this session has what work in it needs. `needs`: further commands, beside
   * those that Walkback needs.
   */
  preflight(
    options?: { needs?: string[]; requestId?: string },
    call?: CallOptions,
  ): Promise<Answer<'preflight'>>;
  /** Text for the agent's system prompt about its repositories. */
  context(call?: CallOptions): Promise<Answer<'context'>>;
  /** Reads where the session stands now. Call it after somebody else rolled back. */
  refresh(call?: CallOptions): Promise<void>;
  /**
   * `discard`, for a fork: kills its sandbox too. Work that no checkpoint holds gets a last checkpoint first;
   * where it cannot be captured, the call is refused (`UncapturedWork`) unless `dropUncaptured`.
   */
  end(
    options?: { discard?: boolean; dropUncaptured?: boolean; dryRun?: boolean },
    call?: CallOptions,
  ): Promise<Answer<'end-session'>>;
}

export interface SessionDeps extends Pick<RunDeps, 'signal' | 'onCheckpointError' | 'onWarning' | 'redact'> {
  invoke: Invoke;
}

export const createSession = (deps: SessionDeps, sessionId: string, begin: KnownPosition): Session => {
  const { invoke, redact } = deps;
  const place: KnownPosition = { ...begin };

  const refresh = async (call?: CallOptions): Promise<void> => {
    Object.assign(place, timelinePosition(await invoke('timeline', { sessionId, limit: 1 }, call)));
  };

  const rollbacks: PlanDeps = {
    invoke,
    sessionId,
    moved: ({ epoch }) => {
      place.epoch = epoch;
    },
  };

  const goBack = async (way: Way, given: UndoOptions = {}): Promise<RollbackAnswer> => {
    requireFields(`session.${way}`, given, { 'epoch?': 'number' });
    const { epoch, ...rest } = given;
    const call = epoch === undefined ? given : rest;
    const read = (page: { limit: number; cursor?: string }) =>
      invoke('timeline', { sessionId, ...page }, call);
    const found = await findUndo(way, read, epoch);
    if (found === undefined) throw new errors.CheckpointNotFound(NOTHING[way]);
    const to = { checkpointId: found.checkpointId };
    return makeRollback(rollbacks, { to, epoch: found.epoch }, call);
  };

  return {
    sessionId,
    get epoch() {
      return place.epoch;
    },
    run: (options = {}) => createRun({ ...deps, sessionId, place }, options),
    checkpoint: async (given, call) => {
      const options: CheckpointOptions = given ?? {};
      requireOnly('session.checkpoint', options, {
        'messageId?': 'text',
        'id?': 'text',
        'reason?': 'text',
        'message?': 'object',
        'tool?': 'object',
      });
      const { messageId, id, reason = 'checkpoint', message: text, tool } = options;
      const toolExecutionId = fitId(id ?? freshId('checkpoint'));
      const request = {
        sessionId,
        epoch: place.epoch,
        ...(messageId !== undefined && { messageId: fitId(messageId) }),
        toolExecutionId,
        reason,
        ...saidMessage(text, redact),
        ...(tool && saidTool(tool, redact)),
      };
      return checkpointAt(place, invoke, request, call);
    },
    plan: async (options, call) => {
      requireOnly('session.plan', options, ROLLBACK);
      return planRollback(rollbacks, options, call);
    },
    rollback: async (options, call) => {
      requireOnly('session.rollback', options, ROLLBACK);
      return makeRollback(rollbacks, options, call);
    },
    undo: (options) => goBack('undo', options),
    redo: (options) => goBack('redo', options),
    revert: async (given, call) => {
      requireFields('session.revert', given, {});
      const { requestId = freshId('revert'), ...options } = given;
      const answer = await invoke('revert', { ...withFitMessage(options), sessionId, requestId }, call);
      if (answer.status === 'APPLIED') rollbacks.moved(answer);
      return answer;
    },
    fork: async (given = {}, call) => {
      requireFields('session.fork', given, { 'to?': 'point' });
      const { to, requestId = freshId('fork'), ...options } = given;
      if (to !== undefined && (options.messageId ?? options.checkpointId) !== undefined) {
        throw new errors.InvalidInput(
          'session.fork: give to, or messageId or checkpointId, and not both. They say the same.',
        );
      }
      const target = to === undefined ? {} : targetOfPoint(to);
      const answer = await invoke(
        'fork-session',
        { ...withFitMessage(options), ...target, sessionId, requestId },
        call,
      );
      const begun: KnownPosition = { epoch: answer.epoch, seq: 1 };
      return { session: createSession(deps, answer.sessionId, begun), ...answer };
    },
    merge: async (from, given = {}, call) => {
      requireFields(
        'session.merge',
        { from, options: given },
        { 'from.sessionId': 'text', options: 'object' },
      );
      const { requestId = freshId('merge'), ...options } = given;
      const request = { ...options, from: from.sessionId, into: sessionId, requestId };
      const answer = await invoke('merge', request, call);
      if (answer.status === 'APPLIED') rollbacks.moved(answer);
      return answer;
    },
    rewind: async (given, call) => {
      requireFields('session.rewind', given, { to: 'point' });
      const { to, requestId = freshId('rewind'), ...options } = given;
      const target = targetOfPoint(to);
      const answer = await invoke('rewind', { ...options, sessionId, requestId, to: target }, call);
      if (answer.status !== 'PLANNED') await refresh(call);
      return answer;
    },
    rehydrate: async (given = {}, call) => {
      requireFields('session.rehydrate', given, { 'to?': 'point' });
      const { to, requestId = freshId('rehydrate'), ...options } = given;
      const target = to === undefined ? {} : targetOfPoint(to);
      const answer = await invoke(
        'rehydrate',
        { ...withFitMessage(options), ...target, sessionId, requestId },
        call,
      );
      if (options.mode === 'resume') await refresh(call);
      return answer;
    },
    diff: async (options, call) => {
      requireFields('session.diff', options, { from: 'text', to: 'text' });
      return diffAnywhere(
        {
          diff: (request) => invoke('diff', request, call),
          rehydrate: (request) => invoke('rehydrate', request, call),
          rollback: (request) => invoke('rollback', request, call),
          freshId,
        },
        { ...options, from: fitId(options.from), to: fitId(options.to), sessionId },
      );
    },
    blame: async (path, options = {}, call) => {
      requireFields('session.blame', { path, options }, { path: 'text', options: 'object' });
      requireFields('session.blame', options, { 'at?': 'text' });
      const { at, ...rest } = options;
      return blameAnywhere(
        {
          blame: (request) => invoke('blame', request, call),
          rehydrate: (request) => invoke('rehydrate', request, call),
          freshId,
        },
        { ...rest, sessionId, path, ...(at === undefined ? {} : { at: fitId(at) }) },
      );
    },
    changes: async (options, call) => {
      requireFields('session.changes', options, {});
      return invoke('changes', { ...withFitMessage(options), sessionId }, call);
    },
    timeline: async (options = {}, call) => {
      requireFields('session.timeline', options, {});
      return invoke('timeline', { ...options, sessionId }, call);
    },
    verify: async (commitments, given = {}, call) => {
      requireFields('session.verify', { ...given, commitments }, { commitments: 'list', 'to?': 'point' });
      const { to, ...options } = given;
      const target = to === undefined ? {} : targetOfPoint(to);
      return invoke('verify-commitments', { ...options, ...target, sessionId, commitments }, call);
    },
    preflight: async (options = {}, call) => {
      const { session } = await invoke('timeline', { sessionId, limit: 1 }, call);
      const { sandboxId, projectsRoot } = session;
      return invoke('preflight', { sandboxId, projectsRoot, ...options }, call);
    },
    context: (call) => invoke('context', { sessionId }, call),
    refresh,
    end: (options = {}, call) => invoke('end-session', { ...options, sessionId }, call),
  };
};

/**
 * One turn of an agent. Owns the checkpoints before its tools (K2): one at a time, one for all calls that arrive before
 * any of them began, one for each id. A rollback by somebody else, or the end of the session, ends the run.
 */
import type { CheckpointAnswer } from '../contract/checkpoint-answers.ts';
import { isReadOnly } from './classify.ts';
import { isWalkbackError } from './errors.ts';
import { fitId, freshId, idFrom } from './ids.ts';
import type { Invoke } from './invoke.ts';
import type { Place } from './place.ts';
import { type MessageText, type Redact, saidMessage, saidTool } from './said.ts';
import type { ToolCall } from './tool-call.ts';

/** `block`: without a checkpoint the tool does not run. `warn`: it runs, and you are told. */
export type OnCheckpointError = 'block' | 'warn';

/** A tool ran without a checkpoint before it. */
export interface CheckpointWarning {
  sessionId: string;
  messageId: string;
  call: ToolCall;
  error: unknown;
}

export interface RunOptions {
  /** The message that the turn answers. Without an id it gets one. Its text is kept with a checkpoint, to be read later. */
  message?: MessageText & { id?: string };
  /** Ends the run with it. */
  signal?: AbortSignal;
  onCheckpointError?: OnCheckpointError;
  /** Default: that of the client. */
  onWarning?: (warning: CheckpointWarning) => void;
}

/** One turn of an agent: every tool call in it has a checkpoint before it. */
export interface Run {
  readonly sessionId: string;
  /** What `session.plan({ to })` takes to come back to the end of this turn. */
  readonly messageId: string;
  /** Aborts when the run has ended: somebody rolled the session back (`StaleEpoch`), or it is over (`SessionEnded`). Hand it to the host. */
  readonly signal: AbortSignal;
  /** Takes the checkpoint before a tool, and answers it; undefined for a read. Throws when the tool must not run. */
  before(call: ToolCall): Promise<CheckpointAnswer | undefined>;
  /** `before`, then the tool. */
  guard<T>(call: ToolCall, execute: () => T | PromiseLike<T>): Promise<T>;
  /** The checkpoint after the last tool. Once; later calls answer the same one. */
  finish(): Promise<CheckpointAnswer>;
}

export interface RunDeps {
  invoke: Invoke;
  sessionId: string;
  /** Of the session; runs move it. */
  place: Place;
  signal: AbortSignal | undefined;
  onCheckpointError: OnCheckpointError;
  onWarning: (warning: CheckpointWarning) => void;
  redact: Redact;
}

const isEnd = (error: unknown): boolean =>
  isWalkbackError(error, 'StaleEpoch') || isWalkbackError(error, 'SessionEnded');

const MAX_REASON = 128;
const reasonFor = (call: ToolCall): string =>
  (call.reason ?? `before-tool: ${call.name}`).replaceAll(/\p{Cc}/gu, ' ').slice(0, MAX_REASON);

export const createRun = (deps: RunDeps, options: RunOptions): Run => {
  const { invoke, sessionId, place, redact } = deps;
  const onWarning = options.onWarning ?? deps.onWarning;
  const onCheckpointError = options.onCheckpointError ?? deps.onCheckpointError;
  const { epoch } = place;
  const runId = freshId('run');
  const messageId = fitId(options.message?.id ?? freshId('msg'));
  const ended = new AbortController();
  const given = [options.signal, deps.signal].filter((signal) => signal !== undefined);
  const signal = AbortSignal.any([ended.signal, ...given]);

  /** Until a tool of this run has begun, what is in the repositories is the work of the message before. */
  let hasBegun = false;
  /** Joined by calls that arrive before any of its tools began. */
  let open: Promise<CheckpointAnswer> | undefined;
  /** One at a time. */
  let queue: Promise<unknown> = Promise.resolve();
  const byId = new Map<string, Promise<CheckpointAnswer>>();
  let finished: Promise<CheckpointAnswer> | undefined;

  /** The text of the message goes with the first checkpoint that is of this message. */
  let isSaid = false;

  const ask = async (toolExecutionId: string, reason: string, call?: ToolCall): Promise<CheckpointAnswer> => {
    const message = hasBegun ? messageId : (place.messageId ?? messageId);
    const isOwn = message === messageId;
    const said = {
      ...(isOwn && !isSaid && saidMessage(options.message, redact)),
      ...(call && saidTool(call, redact)),
    };
    const request = { sessionId, epoch, messageId: message, toolExecutionId, reason, ...said };
    const answer = await invoke('checkpoint', request, { signal });
    isSaid ||= isOwn;
    return answer;
  };

  /** Some hosts use an id again in a later turn. What was taken then is not the state of now, so another id is made. */
  const takeNow = async (id: string, reason: string, call?: ToolCall): Promise<CheckpointAnswer> => {
    const known = place.seq;
    const own = idFrom(runId, id);
    const answer = await ask(id, reason, call).catch((error: unknown) => {
      if (isWalkbackError(error, 'RequestConflict')) return ask(own, reason, call);
      throw error;
    });
    const fresh = answer.seq < known ? await ask(own, reason, call) : answer;
    place.seq = Math.max(place.seq, fresh.seq);
    return fresh;
  };

  const take = (id: string, reason: string, call?: ToolCall): Promise<CheckpointAnswer> => {
    const taking = queue.then(async () => {
      signal.throwIfAborted();
      try {
        return await takeNow(id, reason, call);
      } catch (error) {
        if (isEnd(error)) ended.abort(error);
        throw error;
      }
    });
    queue = taking.catch(() => undefined);
    return taking;
  };

  /** The checkpoint of a call that has none yet: the one under way, if nothing began since, or another. */
  const shared = (call: ToolCall, id: string): Promise<CheckpointAnswer> => {
    if (open !== undefined) return open;
    const taking = take(id, reasonFor(call), call);
    open = taking;
    const close = (): void => {
      if (open === taking) open = undefined;
    };
    taking.then(close, close);
    return taking;
  };

  const checkpointOf = (call: ToolCall): Promise<CheckpointAnswer> => {
    // Some models and hosts name no call. An empty id is nobody's: the next call with one is another call.
    const id = fitId(call.id === '' ? freshId('call') : call.id);
    const known = byId.get(id);
    if (known !== undefined) return known;
    const taking = shared(call, id);
    byId.set(id, taking);
    // A checkpoint that failed is tried again when the host calls again.
    taking.catch(() => byId.delete(id));
    return taking;
  };

  const before = async (call: ToolCall): Promise<CheckpointAnswer | undefined> => {
    signal.throwIfAborted();
    if (call.readOnly ?? isReadOnly(call.name, call.input)) return undefined;
    let answer: CheckpointAnswer | undefined;
    try {
      answer = await checkpointOf(call);
    } catch (error) {
      signal.throwIfAborted();
      if (onCheckpointError === 'block') throw error;
      onWarning({ sessionId, messageId, call, error });
    }
    signal.throwIfAborted();
    hasBegun = true;
    open = undefined;
    place.messageId = messageId;
    return answer;
  };

  return {
    sessionId,
    messageId,
    signal,
    before,
    guard: async (call, execute) => {
      await before(call);
      return execute();
    },
    finish: () => {
      const finishNow = async (): Promise<CheckpointAnswer> => {
        hasBegun = true;
        const answer = await take(idFrom(runId, 'finish'), 'after-turn');
        place.messageId = messageId;
        return answer;
      };
      finished ??= finishNow().catch((error: unknown) => {
        finished = undefined;
        throw error;
      });
      return finished;
    },
  };
};

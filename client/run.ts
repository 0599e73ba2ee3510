/**
 * One turn of an agent. It owns the checkpoints before its tools (K2): they are taken one at a time, one for
 * all calls that arrive before any of them began, and one for each id. A rollback by somebody else, or the
 * end of the session, ends the run.
 */
import type { CheckpointAnswer } from '../contract/checkpoint-answers.ts';
import { isReadOnly } from './classify.ts';
import { isWalkbackError } from './errors.ts';
import { requireFields, requireOnly } from './given.ts';
import { fitId, freshId, idFrom } from './ids.ts';
import type { Invoke } from './invoke.ts';
import { checkpointAt, type KnownPosition } from './place.ts';
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
  /**
   * The message that the turn answers. Without an id it gets one. Its text is kept with a checkpoint, to be
   * read later.
   */
  message?: MessageText & { id?: string };
  /**
   * The epoch in which the turn began, for a turn that goes on after its host restarted (the host keeps
   * `run.epoch`). A rollback since then ends the run. Default: the turn begins now.
   */
  epoch?: number;
  /** Ends the run when it aborts. */
  signal?: AbortSignal;
  onCheckpointError?: OnCheckpointError;
  /** Default: that of the client. */
  onWarning?: (warning: CheckpointWarning) => void;
}

/** One turn of an agent: every tool call in it has a checkpoint before it. */
export interface Run {
  readonly sessionId: string;
  /** `session.plan({ to })` takes this id to come back to the end of this turn. */
  readonly messageId: string;
  /** Epoch of the session when the turn began. */
  readonly epoch: number;
  /**
   * Aborts when the run has ended: somebody rolled the session back (`StaleEpoch`), or it is over
   * (`SessionEnded`). Hand it to the host.
   */
  readonly signal: AbortSignal;
  /** Takes the checkpoint before a tool, and answers it; undefined for a read. Throws when the tool must not run. */
  before(call: ToolCall): Promise<CheckpointAnswer | undefined>;
  /** Takes the checkpoint as `before` does, then runs the tool. */
  guard<T>(call: ToolCall, execute: () => T | PromiseLike<T>): Promise<T>;
  /**
   * The checkpoint after the last tool. Later calls answer the same one, until another tool of the turn has
   * run.
   */
  finish(): Promise<CheckpointAnswer>;
}

export interface RunDeps {
  invoke: Invoke;
  sessionId: string;
  /** Where the session stands; runs move it. */
  place: KnownPosition;
  signal: AbortSignal | undefined;
  onCheckpointError: OnCheckpointError;
  onWarning: (warning: CheckpointWarning) => void;
  redact: Redact;
}

const isEnd = (error: unknown): boolean =>
  isWalkbackError(error, 'StaleEpoch') || isWalkbackError(error, 'SessionEnded');

const CALL = {
  id: 'text',
  name: 'text',
  'reason?': 'text',
  'readOnly?': 'boolean',
  'hasRun?': 'boolean',
  'signal?': 'signal',
} as const;

const MAX_REASON = 128;
const reasonFor = ({ name, reason, hasRun }: ToolCall): string =>
  (reason ?? (hasRun === true ? `late: ${name} had run` : `before-tool: ${name}`))
    .replaceAll(/\p{Cc}/gu, ' ')
    .slice(0, MAX_REASON);

interface TakenCheckpoint {
  /** The id under which the function knows it. */
  toolExecutionId: string;
  answer: CheckpointAnswer;
}

export const createRun = (deps: RunDeps, options: RunOptions): Run => {
  requireOnly('session.run', options, {
    'message?': 'object',
    'message.id?': 'text',
    'epoch?': 'number',
    'signal?': 'signal',
    'onCheckpointError?': 'mode',
    'onWarning?': 'function',
  });
  const { invoke, sessionId, place, redact } = deps;
  const onWarning = options.onWarning ?? deps.onWarning;
  const onCheckpointError = options.onCheckpointError ?? deps.onCheckpointError;
  const { epoch = place.epoch } = options;
  const runId = freshId('run');
  const messageId = fitId(options.message?.id ?? freshId('msg'));
  const ended = new AbortController();
  const given = [options.signal, deps.signal].filter((signal) => signal !== undefined);
  const signal = AbortSignal.any([ended.signal, ...given]);

  /** The checkpoint that is joined by calls that arrive before any of its tools began. */
  let open: Promise<TakenCheckpoint> | undefined;
  /** Requests run one at a time. */
  let queue: Promise<unknown> = Promise.resolve();
  const byId = new Map<string, Promise<TakenCheckpoint>>();
  let finished: Promise<CheckpointAnswer> | undefined;
  /** How often the turn went on after its end. Each end has a checkpoint of its own. */
  let timesResumed = 0;

  /** The text of the message is sent until a checkpoint belongs to this message. */
  let isSaid = false;

  /**
   * Only the function, which has the timeline, knows whose work is there: other clients may have taken turns,
   * and people may have worked.
   */
  const ask = async (
    toolExecutionId: string,
    reason: string,
    { call, isOwn = false }: { call?: ToolCall; isOwn?: boolean } = {},
  ): Promise<CheckpointAnswer> => {
    const of = isOwn ? { messageId } : { forMessageId: messageId };
    const said = {
      ...(!isSaid && saidMessage(options.message, redact)),
      ...(call && saidTool(call, redact)),
    };
    const request = { sessionId, epoch, ...of, toolExecutionId, reason, ...said };
    const answer = await checkpointAt(place, invoke, request, { signal });
    isSaid ||= answer.messageId === messageId;
    return answer;
  };

  /**
   * Some hosts use an id again in a later turn. The checkpoint of then is not the state of now, so another id
   * is made.
   */
  const takeNow = async (id: string, call: ToolCall): Promise<TakenCheckpoint> => {
    const known = place.seq;
    const own = idFrom(runId, id);
    const takeUnder = async (toolExecutionId: string): Promise<TakenCheckpoint> => ({
      toolExecutionId,
      answer: await ask(toolExecutionId, reasonFor(call), { call }),
    });
    const taken = await takeUnder(id).catch((error: unknown) => {
      if (isWalkbackError(error, 'RequestConflict')) return takeUnder(own);
      throw error;
    });
    return taken.answer.seq < known ? takeUnder(own) : taken;
  };

  /** Runs after all earlier requests were answered. */
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const working = queue.then(async () => {
      signal.throwIfAborted();
      try {
        return await work();
      } catch (error) {
        if (isEnd(error)) ended.abort(error);
        throw error;
      }
    });
    queue = working.catch(() => undefined);
    return working;
  };

  /**
   * The checkpoint for a call that has none yet: the one under way if no tool has begun since, else a new
   * one.
   */
  const shared = (call: ToolCall, id: string): Promise<TakenCheckpoint> => {
    if (open !== undefined) return open;
    const taking = inTurn(() => takeNow(id, call));
    open = taking;
    const close = (): void => {
      if (open === taking) open = undefined;
    };
    taking.then(close, close);
    return taking;
  };

  /**
   * A repeated call. Its checkpoint counts as long as nobody rolled back since, which only the function
   * knows.
   */
  const confirm = (known: Promise<TakenCheckpoint>, call: ToolCall): Promise<CheckpointAnswer> =>
    inTurn(async () => ask((await known).toolExecutionId, reasonFor(call), { call }));

  const checkpointOf = async (call: ToolCall): Promise<CheckpointAnswer> => {
    // Some models and hosts give calls no id. An empty id belongs to no call: the next call with one is
    // another call.
    const id = fitId(call.id === '' ? freshId('call') : call.id);
    const known = byId.get(id);
    if (known !== undefined && known !== open) return confirm(known, call);
    const taking = known ?? shared(call, id);
    byId.set(id, taking);
    // A checkpoint that failed is taken again when the host calls again.
    taking.catch(() => byId.delete(id));
    return (await taking).answer;
  };

  const takeBefore = async (call: ToolCall): Promise<CheckpointAnswer | undefined> => {
    signal.throwIfAborted();
    // A read that nobody waits for is not begun either. A tool that has run is captured all the same.
    if (call.hasRun !== true) call.signal?.throwIfAborted();
    if (call.readOnly ?? isReadOnly(call.name, call.input)) return undefined;
    if (call.hasRun === true) place.untold = { messageId, epoch };
    let answer: CheckpointAnswer | undefined;
    try {
      answer = await checkpointOf(call);
    } catch (error) {
      signal.throwIfAborted();
      if (onCheckpointError === 'block') throw error;
      onWarning({ sessionId, messageId, call, error });
      place.untold = { messageId, epoch };
    }
    signal.throwIfAborted();
    // Nobody waits for the tool any more, and it would surprise whoever gave it up.
    call.signal?.throwIfAborted();
    open = undefined;
    if (finished !== undefined) timesResumed += 1;
    finished = undefined;
    return answer;
  };

  /**
   * The checkpoint at the end belongs to this message. If the work that is there belongs to others, it first
   * gets a checkpoint of its own.
   */
  const takeEnd = async (number: string): Promise<CheckpointAnswer> => {
    const taken = await ask(idFrom(runId, 'finish', number), 'after-turn');
    if (taken.messageId === messageId) return taken;
    return ask(idFrom(runId, 'own', number), 'after-turn', { isOwn: true });
  };

  return {
    sessionId,
    messageId,
    epoch,
    signal,
    before: async (call) => {
      requireFields('run.before', call, CALL);
      return takeBefore(call);
    },
    guard: async (call, execute) => {
      requireFields('run.guard', call, CALL);
      requireFields('run.guard', { execute }, { execute: 'function' });
      await takeBefore(call);
      return execute();
    },
    finish: () => {
      if (finished !== undefined) return finished;
      const number = String(timesResumed);
      const finishing = inTurn(() => takeEnd(number));
      finished = finishing;
      finishing.catch(() => {
        if (finished === finishing) finished = undefined;
      });
      return finishing;
    },
  };
};

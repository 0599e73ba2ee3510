/**
 * Runs each request id once. A caller that sends the same request meanwhile waits for the running call. One
 * that sends it soon after the end gets the same answer. This is for calls that store nothing that a repeated
 * call could continue from, and that may take longer than the caller's connection lasts. If the function of a
 * call was killed, the next request begins anew, once the call has shown no sign of life for a while.
 */
import { isErrorName } from '../../../contract/errors.ts';
import { MINUTE_MS } from '../../../contract/times.ts';
import type { Invocation } from '../../shared/deadline.ts';
import { isWalkbackError, WalkbackError } from '../../shared/errors.ts';
import type { Clock, Log } from '../../shared/surroundings.ts';
import { requestHash } from '../session/request-hash.ts';
import { conflictingRequest } from '../session/session-rules.ts';

/** What a function answered earlier under this key. The value is our own, so its shape is not checked again. */
type Answered = ReturnType<JSON['parse']>;

/** How a call stands. After `untilMs` the item no longer counts. */
export interface KeptCall {
  /** Id of the execution. Only that execution may write the item later. */
  claim: string;
  hash: string;
  untilMs: number;
  state: 'running' | 'answered' | 'refused' | 'over';
  error?: { name: string; message: string };
}

export interface KeptCalls {
  get(key: string): Promise<KeptCall | undefined>;
  /** Undefined when the answer is gone. */
  answerOf(key: string, call: KeptCall): Promise<Answered>;
  /** Replaces `before`, or creates the item. False: another call's item is there. */
  begin(key: string, call: KeptCall, before: KeptCall | undefined): Promise<boolean>;
  /** Does nothing when another execution has the item, or when this one has ended. */
  move(key: string, call: KeptCall, answer?: unknown): Promise<void>;
}

interface Deps {
  calls: KeptCalls;
  clock: Clock;
  log: Log;
  random: () => string;
}

/** How long an answer is kept. */
const KEPT_MS = 10 * MINUTE_MS;
/** How long a refusal is kept. It is shorter, because what stands in the way may change. */
const REFUSED_MS = MINUTE_MS;
/** A call without a sign of life for this long was killed. */
const SILENT_MS = MINUTE_MS;
const BEAT_MS = 15_000;
/** A caller waits this long: longer than the HTTP API waits. */
const PATIENCE_MS = 30_000;
const POLL_MS = 500;
const LONGEST_POLL_MS = 3_000;

type Asked = { requestId?: string | undefined; sessionId?: string | undefined };
type Work<Input, Answer> = (input: Input, invocation: Invocation) => Promise<Answer>;

export const createJoinCall = ({ calls, clock, log, random }: Deps) => {
  const nowMs = (): number => clock.now().getTime();
  const isOver = ({ state, untilMs }: KeptCall): boolean => state === 'over' || untilMs <= nowMs();

  /** What is kept only helps repeated calls, so a failure here does not fail this call. */
  const keep = (key: string, call: KeptCall, answer?: unknown): Promise<void> =>
    calls.move(key, call, answer).catch((error: unknown) => {
      log.warn('how a call stands was not kept', { reason: String(error) });
    });

  const run = async <Answer>(key: string, mine: KeptCall, work: () => Promise<Answer>): Promise<Answer> => {
    const stop = clock.every?.(BEAT_MS, () => void keep(key, { ...mine, untilMs: nowMs() + SILENT_MS }));
    try {
      const answer = await work();
      await keep(key, { ...mine, state: 'answered', untilMs: nowMs() + KEPT_MS }, answer);
      return answer;
    } catch (error) {
      const isRefused = isWalkbackError(error) && !error.retryable;
      await keep(key, {
        ...mine,
        state: isRefused ? 'refused' : 'over',
        untilMs: nowMs() + REFUSED_MS,
        ...(isRefused && { error: { name: error.name, message: error.message } }),
      });
      throw error;
    } finally {
      stop?.();
    }
  };

  /**
   * The answer of a call that has ended. Undefined: it has not ended, or its answer is gone. Throws the error
   * of a refused call.
   */
  const endOf = async (key: string, known: KeptCall): Promise<{ answer: Answered } | undefined> => {
    if (known.state === 'refused' && known.error !== undefined && isErrorName(known.error.name)) {
      throw new WalkbackError(known.error.name, known.error.message);
    }
    const answer: Answered = known.state === 'answered' ? await calls.answerOf(key, known) : undefined;
    return answer === undefined ? undefined : { answer };
  };

  return <Input extends Asked, Answer>(name: string, work: Work<Input, Answer>): Work<Input, Answer> =>
    async (input, invocation) => {
      const { requestId, ...asked } = input;
      if (requestId === undefined) return work(input, invocation);
      const key = [name, input.sessionId ?? '', requestId].join(' ');
      const hash = requestHash(JSON.parse(JSON.stringify(asked)));
      const claim = random();
      const lastMs = Math.min(nowMs() + PATIENCE_MS, invocation.deadlineMs - LONGEST_POLL_MS);
      for (let pause = POLL_MS; ; pause = Math.min(pause * 2, LONGEST_POLL_MS)) {
        const known = await calls.get(key);
        const isThere = known !== undefined && !isOver(known);
        if (isThere && known.hash !== hash) throw conflictingRequest(requestId);
        const end = isThere ? await endOf(key, known) : undefined;
        if (end !== undefined) return end.answer;
        if (!isThere || known.state !== 'running') {
          const mine: KeptCall = { claim, hash, state: 'running', untilMs: nowMs() + SILENT_MS };
          if (await calls.begin(key, mine, known)) return run(key, mine, () => work(input, invocation));
        }
        if (nowMs() + pause > lastMs) {
          throw new WalkbackError('StillRunning', `${name} goes on. Send the same request again.`);
        }
        await clock.sleep(pause);
      }
    };
};

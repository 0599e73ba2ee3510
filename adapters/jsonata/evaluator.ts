/**
 * Evaluates the JSONata of a plan in a separate process, because it may come from an agent. A regular
 * expression can run for hours, and one call of `$pad` can ask for more memory than exists. Neither can be
 * stopped from inside. A worker thread is not enough: an allocation that is too large for a thread ends the
 * whole process.
 *
 * This module owns the process. The process is kept between calls and sees none of our environment variables.
 * It is ended when a job takes too much processor time. Clock time does not count at first, because a busy
 * machine may let the process wait.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import * as z from 'zod';
import { isJson, type Json, jsonProblem } from '../../contract/json.ts';
import type { Evaluate, Expression } from '../../core/saga/ports.ts';
import { WalkbackError } from '../../core/shared/errors.ts';

export interface Job {
  expressions: readonly Expression[];
  scope: Json;
  /** Limit for one expression, by the clock. */
  longestMs: number;
}

const TIME_MS = 1_000;
/** Limit by the clock, for a machine that gives the process little processor time. */
const LONGEST_MS = 10_000;
/** Linux counts the processor time of a process in hundredths of a second. */
const TICK_MS = 10;
const MEMORY_MB = 64;
/** Time until the process is ready. No expression of a plan runs before that. */
const START_MS = 20_000;

/**
 * The program lies beside this module. In a function's bundle it lies beside the bundle
 * (cdk/constructs/walkback-function.ts).
 */
const PROGRAM = import.meta.url.endsWith('/evaluator.ts') ? './process.ts' : './jsonata-process.mjs';

const readyMessage = z.object({ ready: z.literal(true) });
const answerMessage = z.object({
  answers: z.array(z.union([z.object({ text: z.string() }), z.object({ problem: z.string() })])),
});

type Heard = { message: unknown } | { ended: 'late' | 'gone' };

/** The processor time that it has used; unknown where there is no /proc. */
const workedMs = ({ pid }: ChildProcess): number | undefined => {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
  } catch {
    return undefined;
  }
};

/**
 * For a job that begins now: a function that says how much of its time is left. Where this cannot be known,
 * only the clock decides.
 */
const timeOf = (child: ChildProcess): (() => number) => {
  const begunMs = performance.now();
  const before = workedMs(child);
  return () => {
    const worked = workedMs(child);
    if (before === undefined || worked === undefined || performance.now() - begunMs > LONGEST_MS) return 0;
    return TIME_MS - (worked - before);
  };
};

/**
 * The next message of the process, or how it failed to send one. When the limit has passed, the process may
 * get more time.
 */
const hear = (child: ChildProcess, limitMs: number, leftMs = (): number => 0): Promise<Heard> =>
  new Promise((resolve) => {
    const settle = (heard: Heard) => {
      clearTimeout(timer);
      child.off('message', onMessage).off('exit', onGone).off('error', onGone);
      resolve(heard);
    };
    const onMessage = (message: unknown) => settle({ message });
    const onGone = () => settle({ ended: 'gone' });
    const onLimit = () => {
      const more = leftMs();
      if (more > 0) timer = setTimeout(onLimit, Math.max(more, TICK_MS));
      else settle({ ended: 'late' });
    };
    let timer = setTimeout(onLimit, limitMs);
    child.on('message', onMessage).on('exit', onGone).on('error', onGone);
  });

const start = async (): Promise<ChildProcess> => {
  // Only the variables that are needed to find and load node itself.
  const { PATH, LD_LIBRARY_PATH } = process.env;
  const child = fork(fileURLToPath(new URL(PROGRAM, import.meta.url)), [], {
    execArgv: [`--max-old-space-size=${MEMORY_MB}`],
    env: { ...(PATH && { PATH }), ...(LD_LIBRARY_PATH && { LD_LIBRARY_PATH }) },
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  });
  // A waiting caller handles this error. At other times it is ignored.
  child.on('error', () => undefined);
  const heard = await hear(child, START_MS);
  // The waiting process does not keep ours alive.
  child.unref();
  child.channel?.unref();
  if ('message' in heard && readyMessage.safeParse(heard.message).success) return child;
  child.kill('SIGKILL');
  throw new WalkbackError('InternalError', 'The process that evaluates expressions does not start.', {
    retryable: true,
  });
};

const refuse = (message: string) => new WalkbackError('ArgumentsUnresolved', message);

/** The exact cause is uncertain, because a process that runs out of memory takes a while to report it. */
const tooCostly = (expressions: readonly Expression[]): WalkbackError => {
  const [first] = expressions;
  const what =
    expressions.length === 1 ? `${first?.source ?? ''} takes` : `${expressions.length} expressions take`;
  return refuse(`${what} longer than ${TIME_MS} ms or more than ${MEMORY_MB} MB of memory`);
};

/** Runs one job at a time, because the limits are those of one job. */
export const createEvaluator = (): Evaluate => {
  let running: Promise<ChildProcess> | undefined;
  let last: Promise<unknown> = Promise.resolve();

  const end = (child: ChildProcess) => {
    running = undefined;
    child.kill('SIGKILL');
  };

  const obtain = (): Promise<ChildProcess> => {
    if (running !== undefined) return running;
    const starting = start();
    const forget = () => {
      if (running === starting) running = undefined;
    };
    void starting.then((child) => child.once('exit', forget), forget);
    running = starting;
    return starting;
  };

  const ask = async (job: Job): Promise<Heard> => {
    const child = await obtain();
    const answering = hear(child, TIME_MS, timeOf(child));
    child.send(job);
    const heard = await answering;
    if ('ended' in heard) end(child);
    return heard;
  };

  const run = async (expressions: readonly Expression[], scope: Json): Promise<Json[]> => {
    const kept = running !== undefined;
    const job = { expressions, scope, longestMs: LONGEST_MS };
    let heard = await ask(job);
    // A process that was kept may have ended meanwhile for reasons of its own.
    if ('ended' in heard && heard.ended === 'gone' && kept) heard = await ask(job);
    if ('ended' in heard) throw tooCostly(expressions);
    const { answers } = answerMessage.parse(heard.message);
    return answers.map((answer) => {
      if ('problem' in answer) throw refuse(answer.problem);
      const value: unknown = JSON.parse(answer.text);
      if (isJson(value)) return value;
      throw refuse(`an expression's value ${jsonProblem(value) ?? 'is no JSON'}`);
    });
  };

  return (expressions, scope) => {
    const result = last.then(() => run(expressions, scope));
    last = result.catch(() => undefined);
    return result;
  };
};

/**
 * A script of an agent that decides as it goes: it submits one step after the other, is told what became of
 * each, and closes its saga. Calls that die are made again, as a backend does.
 */

import type { JsonObject } from '../../contract/json.ts';
import type { StepAnswer } from '../../contract/saga-answers.ts';
import { DAY_SECONDS } from '../../contract/times.ts';
import { isWalkbackError } from '../../core/shared/errors.ts';
import { Crash, type sagaMachine } from './saga-machine.ts';
import type { VirtualClock } from './virtual-clock.ts';

export interface ScriptedStep {
  id: string;
  tool: string;
  version?: string;
  /** The arguments, or a function that makes them from what the agent was told about earlier steps. */
  arguments: JsonObject | ((told: Readonly<Record<string, StepAnswer>>) => JsonObject);
  /**
   * What the agent is told when nothing fails. Default: `committed`. After `rejected` it goes on with the
   * next step.
   */
  outcome?: 'committed' | 'rejected';
  /** What the agent does when it is told something else. Default: `unwind`. */
  otherwise?: 'unwind' | 'go on';
}

export interface InteractiveScript {
  submit: readonly ScriptedStep[];
  /** Default: `complete`. */
  close?: 'complete' | 'unwind';
  /** Irreversible tools that need no approval. The others are approved by the test. */
  allowIrreversible?: readonly string[];
}

export const isScript = (value: object): value is InteractiveScript => 'submit' in value;

/** Steps that have no effect, so nothing is taken back. */
export const rejectedSteps = ({ submit }: InteractiveScript): string[] =>
  submit.flatMap(({ id, outcome }) => (outcome === 'rejected' ? [id] : []));

type Machine = ReturnType<typeof sagaMachine>;

/** So long that no time limit of the saga runs out while calls time out again and again. */
const IDLE_SECONDS = 30 * DAY_SECONDS;
const PATIENCE = 60;
const LOOK_EVERY_MS = 60_000;

/** The saga will end differently from the script, or has ended. */
const OVER = ['SagaClosed', 'SagaUnwinding'];
const isOver = (error: unknown): boolean => isWalkbackError(error) && OVER.includes(error.name);

export interface Played {
  /** Answers of settled steps, by step id. */
  told: Record<string, StepAnswer>;
  problems: string[];
}

export interface Playing {
  machine: Machine;
  clock: VirtualClock;
  sagaId: string;
  /** In the end the agent takes everything back. */
  isUndone: boolean;
}

export const playScript = async (
  script: InteractiveScript,
  { machine, clock, sagaId, isUndone }: Playing,
): Promise<Played> => {
  /** Undefined when the function died, or the step before is not finished. */
  const surviving = async <T>(call: () => Promise<T>): Promise<T | undefined> => {
    try {
      return await call();
    } catch (error) {
      if (error instanceof Crash || isWalkbackError(error, 'StepInProgress')) return undefined;
      throw error;
    }
  };
  /** A dead driver is noticed only after the deadline of its call. */
  const wait = async (): Promise<void> => {
    await machine.settle();
    await clock.advance(LOOK_EVERY_MS);
    await machine.settle();
  };
  const persist = async <T>(what: string, call: () => Promise<T | undefined>): Promise<T> => {
    for (let round = 0; round < PATIENCE; round += 1) {
      const answer = await surviving(call);
      if (answer !== undefined) return answer;
      await wait();
    }
    throw new Error(`${what} never comes to its end`);
  };

  const requests = new Map<string, Parameters<Machine['submit']>[0]>();
  const told: Record<string, StepAnswer> = {};
  const submit = (step: ScriptedStep): Promise<StepAnswer | 'over'> => {
    const given = typeof step.arguments === 'function' ? step.arguments({ ...told }) : step.arguments;
    const version = step.version === undefined ? {} : { version: step.version };
    const request = { sagaId, stepId: step.id, tool: step.tool, ...version, arguments: given };
    requests.set(step.id, request);
    return persist(`step ${step.id}`, async () => {
      try {
        const answer = (await machine.submit(request)).step;
        return answer.status === 'running' || answer.status === 'awaiting' ? undefined : answer;
      } catch (error) {
        if (isOver(error)) return 'over' as const;
        throw error;
      }
    });
  };

  const { allowIrreversible = [] } = script;
  const interactive = {
    onIdle: 'unwind' as const,
    idleTimeoutSeconds: IDLE_SECONDS,
    allowIrreversible: [...allowIrreversible],
  };
  await machine.start({ sagaId, interactive, requestedBy: 'testSaga' });
  let outcome = isUndone ? ('unwind' as const) : (script.close ?? 'complete');
  for (const step of script.submit) {
    const answer = await submit(step);
    if (answer === 'over') break;
    told[step.id] = answer;
    if (answer.status === (step.outcome ?? 'committed') || step.otherwise === 'go on') continue;
    outcome = 'unwind';
    break;
  }
  await persist('closing', async () => {
    try {
      return await machine.close({ sagaId, outcome });
    } catch (error) {
      if (isOver(error)) return 'over' as const;
      throw error;
    }
  });
  await wait();

  // A repeated request gets the same answer, as long as nobody took the step back.
  const problems: string[] = [];
  if (outcome === 'complete') {
    for (const [id, request] of requests) {
      const before = told[id]?.status;
      const again = (await surviving(async () => machine.submit(request)))?.step.status;
      if (before !== again)
        problems.push(`${id} was told as ${before}, and as ${again} when it was asked again`);
    }
  }
  return { told, problems };
};

/** How a run without failures differs from the script. */
export const differsFromScript = (script: InteractiveScript, { told }: Played): string | undefined => {
  for (const { id, outcome = 'committed' } of script.submit) {
    const answer = told[id];
    if (answer === undefined) return `step ${id} was never submitted, because its saga had ended`;
    if (answer.status === outcome) continue;
    const why = answer.error === undefined ? '' : ` (${answer.error.name}: ${answer.error.message})`;
    return `step ${id} was told as ${answer.status}${why}, and the script says ${outcome}`;
  }
  return undefined;
};

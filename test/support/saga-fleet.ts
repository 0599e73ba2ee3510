/**
 * Many executions of the machine at once, in virtual time: each turn one of them does one transition, drawn at
 * random, and any may die. The functions are the real ones.
 */
import { setImmediate } from 'node:timers/promises';
import { createEvaluator } from '../../adapters/jsonata/evaluator.ts';
import type { SubmitStepInput } from '../../contract/saga-inputs.ts';
import type { ToolRequest } from '../../contract/tool-request.ts';
import { createCloseSaga } from '../../core/saga/interactive/close.ts';
import { createSubmitStep } from '../../core/saga/interactive/submit.ts';
import { executionName } from '../../core/saga/model/keys.ts';
import { createAnnounceAwait, createAnswer } from '../../core/saga/people/answer.ts';
import { createOperate } from '../../core/saga/people/operate.ts';
import type { Invoked, SagaEngine, SagaStore, ToolInvoker } from '../../core/saga/ports.ts';
import { createAdvance } from '../../core/saga/run/advance.ts';
import { type EngineState, eventOf } from '../../core/saga/run/engine-protocol.ts';
import { createStartSaga } from '../../core/saga/run/start.ts';
import { createSweep } from '../../core/saga/run/sweep.ts';
import { memorySagaStore } from '../../kit/testing/memory-saga-store.ts';
import { Crash } from '../../kit/testing/saga-machine.ts';
import { virtualClock } from '../../kit/testing/virtual-clock.ts';
import { coarseClock } from './coarse-clock.ts';

const evaluate = createEvaluator();

interface Execution {
  sagaId: string;
  generation: number;
  /** Undefined: it has not asked yet. */
  state?: EngineState;
  /** It does nothing before then, unless it is woken. */
  untilMs: number;
  token?: string;
}

export interface FleetOptions {
  /** From 0 to 1. */
  random: () => number;
  invoke: (request: ToolRequest, nowMs: number) => Promise<Invoked>;
  /**
   * An execution ends here, between two transitions or before its call is recorded. A store that throws
   * `Crash` ends it in the middle of one.
   */
  dies?: (sagaId: string) => boolean;
  /** Called after each turn. */
  onTurn?: (store: SagaStore) => Promise<void>;
  storing?: (store: SagaStore) => SagaStore;
  /** From 0 to 1: how often another execution does a turn before a call of the store. */
  meets?: number;
  /** The clock of the functions moves in steps of so much. */
  coarseMs?: number;
}

const MAX_TURNS = 200_000;
const MOST_NESTED = 3;
const SWEEP_EVERY_MS = 60_000;
/** The sweeper looks every 15 minutes at who waits for a person, and that one's execution may have died. */
const IDLE_SWEEPS = 16;

export const sagaFleet = (options: FleetOptions) => {
  const { random, meets = 0, coarseMs = 1 } = options;
  const clock = virtualClock(Date.UTC(2026, 0, 1));
  const read = coarseClock(clock, coarseMs);
  const memory = memorySagaStore();
  const running: Execution[] = [];
  const acting = new Set<Execution>();
  const known = new Map<string, 'running' | 'ended'>();
  const counts = { turns: 0, transitions: 0, calls: 0, deaths: 0 };

  const dueNow = () => running.filter((one) => !acting.has(one) && one.untilMs <= clock.nowMs());
  /** Others act before a call of the store, as in functions that run at once. */
  let nested = 0;
  const meet = async (): Promise<void> => {
    if (nested >= MOST_NESTED || random() >= meets) return;
    const due = dueNow();
    const chosen = due[Math.floor(random() * due.length)];
    if (chosen === undefined) return;
    nested += 1;
    try {
      await turn(chosen);
    } finally {
      nested -= 1;
    }
  };
  const meeting = <Port extends object>(port: Port): Port =>
    new Proxy(port, {
      get: (target, property, receiver) => {
        const value: unknown = Reflect.get(target, property, receiver);
        if (typeof value === 'object' && value !== null) return meeting(value);
        if (typeof value !== 'function' || property === 'line') return value;
        return async (...given: unknown[]) => {
          await meet();
          return Reflect.apply(value, target, given) as unknown;
        };
      },
    });
  const kept = options.storing?.(memory.store) ?? memory.store;
  const store = meets === 0 ? kept : meeting(kept);

  const engine: SagaEngine = {
    start: async (sagaId, generation) => {
      const name = executionName(sagaId, generation);
      if (known.has(name)) return 'exists';
      known.set(name, 'running');
      running.push({ sagaId, generation, untilMs: clock.nowMs() });
      return 'started';
    },
    look: async (sagaId, generation) => known.get(executionName(sagaId, generation)) ?? 'missing',
    wake: async (token) => {
      const waiting = running.find((one) => one.token === token);
      if (waiting !== undefined) waiting.untilMs = clock.nowMs();
      return waiting !== undefined;
    },
  };
  const log = { info: () => undefined, warn: () => undefined };
  const advance = createAdvance({ store, engine, clock: read, evaluate, executionLink: (arn) => arn });
  const tools: ToolInvoker = { invoke: (_, payload) => options.invoke(payload, clock.nowMs()) };
  const announce = createAnnounceAwait({ store, engine });
  const sweep = createSweep({ store, engine, clock: read, log });

  const end = (execution: Execution): void => {
    running.splice(running.indexOf(execution), 1);
    known.set(executionName(execution.sagaId, execution.generation), 'ended');
  };

  const turn = async (execution: Execution): Promise<void> => {
    acting.add(execution);
    try {
      await transition(execution);
    } finally {
      acting.delete(execution);
    }
  };

  const transition = async (execution: Execution): Promise<void> => {
    const { sagaId, generation, state } = execution;
    delete execution.token;
    let outcome: unknown;
    if (state?.action === 'INVOKE') {
      counts.calls += 1;
      outcome = await options.invoke(state.payload, clock.nowMs());
      if (options.dies?.(sagaId) === true) {
        counts.deaths += 1;
        return end(execution);
      }
    }
    counts.transitions += 3;
    const event = eventOf({ ...(state ?? { sagaId, generation }), outcome });
    const next = await advance(sagaId, generation, event, 'arn').catch((error: unknown) => {
      if (error instanceof Crash) return undefined;
      throw error;
    });
    if (next === undefined || options.dies?.(sagaId) === true) {
      counts.deaths += 1;
      return end(execution);
    }
    execution.state = next;
    execution.untilMs = clock.nowMs();
    switch (next.action) {
      case 'END':
      case 'ESCALATE':
      case 'ALERTED':
      case 'UNALERTED':
        return end(execution);
      case 'PAUSE':
        execution.untilMs += next.seconds * 1000;
        break;
      case 'AWAIT':
        execution.untilMs += next.timeoutSeconds * 1000;
        execution.token = `${sagaId} ${generation} ${counts.turns}`;
        await announce({
          sagaId,
          generation,
          step: next.stepIndex,
          entered: clock.now().toISOString(),
          retry: 0,
          token: execution.token,
        });
        break;
      case 'INVOKE':
      case 'NOTIFY':
        break;
    }
  };

  /** Until nothing moves by itself any more, or for some virtual time. */
  const settle = async (forMs = Infinity): Promise<void> => {
    const endMs = clock.nowMs() + forMs;
    let sweptMs = clock.nowMs();
    let idle = 0;
    while (clock.nowMs() < endMs) {
      counts.turns += 1;
      if (counts.turns > MAX_TURNS) throw new Error('the sagas never settle');
      const due = dueNow();
      const chosen = due[Math.floor(random() * due.length)];
      if (chosen !== undefined) {
        idle = 0;
        await turn(chosen);
        await options.onTurn?.(kept);
        continue;
      }
      // Of calls that were made side by side, one failed before another ended.
      if (acting.size > 0) {
        await setImmediate();
        continue;
      }
      const nextMs = Math.min(...running.map(({ untilMs }) => untilMs), sweptMs + SWEEP_EVERY_MS, endMs);
      await clock.advance(Math.max(0, nextMs - clock.nowMs()));
      if (clock.nowMs() - sweptMs < SWEEP_EVERY_MS) continue;
      sweptMs = clock.nowMs();
      const { resumed, woken } = await sweep();
      idle = resumed.length + woken.length + running.length === 0 ? idle + 1 : 0;
      if (idle > IDLE_SWEEPS) return;
    }
  };

  return {
    clock,
    engine,
    ledger: memory.ledger,
    store,
    /** The same without others between two calls. */
    kept,
    /** One turn of an execution that does none now. */
    act: async (): Promise<void> => {
      const [first] = dueNow();
      if (first !== undefined) await turn(first);
    },
    counts,
    running,
    settle,
    sweep,
    start: createStartSaga({ store, engine, clock: read, evaluate }),
    answer: createAnswer({ store, engine, clock: read }),
    submit: (request: SubmitStepInput) =>
      createSubmitStep({ store, engine, clock: read, evaluate, tools })(request, {
        deadlineMs: clock.nowMs() + 600_000,
      }),
    close: createCloseSaga({ store, engine, clock: read }),
    operate: createOperate({ store, engine, clock: read }),
  };
};

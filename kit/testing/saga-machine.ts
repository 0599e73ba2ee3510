/**
 * The state machine of statemachines/saga.asl.json in a few lines and in virtual time: the same functions
 * behind the same transitions, without sockets. The scenarios on the embedded cloud show that the real
 * definition does the same.
 */
import type { CallToolInput, ParkSagaInput, SubmitStepInput } from '../../contract/saga-inputs.ts';
import type { ToolRequest } from '../../contract/tool-request.ts';
import { createCallTool } from '../../core/saga/interactive/call-tool.ts';
import { createCloseSaga } from '../../core/saga/interactive/close.ts';
import { createDriveInline } from '../../core/saga/interactive/drive.ts';
import { createParkSaga, type ParkDependencies } from '../../core/saga/interactive/park.ts';
import { createSubmitStep } from '../../core/saga/interactive/submit.ts';
import { executionName } from '../../core/saga/model/keys.ts';
import { createAnnounceAwait, createAnswer } from '../../core/saga/people/answer.ts';
import { createOperate } from '../../core/saga/people/operate.ts';
import { createRewindSaga } from '../../core/saga/people/rewind-saga.ts';
import type {
  CheckEpoch,
  Evaluate,
  Invoked,
  ProjectOf,
  SagaEngine,
  SagaStore,
} from '../../core/saga/ports.ts';
import { createAdvance } from '../../core/saga/run/advance.ts';
import { type EngineState, eventOf } from '../../core/saga/run/engine-protocol.ts';
import { createStartSaga } from '../../core/saga/run/start.ts';
import { createSweep } from '../../core/saga/run/sweep.ts';
import { evaluateHere } from './evaluate-here.ts';
import type { VirtualClock } from './virtual-clock.ts';

/** The execution is gone, as when its machine dies. */
export class Crash extends Error {
  override readonly name = 'Crash';
}

export interface MachineOptions {
  store: SagaStore;
  clock: VirtualClock;
  /** Stands for `Invoke`: answers as the engine does. May throw `Crash`. */
  invoke: (functionName: string, payload: ToolRequest) => Promise<Invoked>;
  /** Every Advance is called twice with the same input, and the second answer counts. */
  replay?: boolean;
  /** Called when the saga waits; returns false to let the wait time out. */
  onAwait?: (state: EngineState & { action: 'AWAIT' }) => Promise<boolean>;
  /** Called when nothing moves by itself, for what an agent would then do. Answers whether it did something. */
  onQuiet?: () => Promise<boolean>;
  maxHistoryEvents?: number;
  httpToolFunction?: string;
  checkEpoch?: CheckEpoch;
  projectOf?: ProjectOf;
  saveFiles?: ParkDependencies['saveFiles'];
  /** The alert topic's answer to an alert. By default it takes every alert. */
  onAlert?: (alert: { subject: string; message: string }) => { Error: string; Cause: string } | undefined;
  /** Stands between the functions and the engine, for an engine that fails. */
  engineThrough?: (engine: SagaEngine) => SagaEngine;
  /** Evaluates expressions of plans. In a deployment this is a separate process. */
  evaluate?: Evaluate;
}

const FUNCTION_MS = 900_000;

const MAX_TRANSITIONS = 20_000;

/** Number of idle sweeps. They are five seconds apart. */
const IDLE_SWEEPS = 15;

/** An execution that was started. Without a state, it has either not begun or has ended. */
interface Execution {
  sagaId: string;
  generation: number;
  began: boolean;
  state?: EngineState | undefined;
  /** Set while it waits for children. */
  waiting?: { token: string; untilMs: number } | undefined;
}

export const sagaMachine = (options: MachineOptions) => {
  const { store, clock, evaluate = evaluateHere } = options;
  const executions = new Map<string, 'running' | 'ended'>();
  const queue: Execution[] = [];
  const dead: string[] = [];
  const woken = new Set<string>();
  const alerts: { subject: string; message: string }[] = [];
  const counts = { transitions: 0, invocations: 0 };

  const own: SagaEngine = {
    start: async (sagaId, generation) => {
      const name = executionName(sagaId, generation);
      if (executions.has(name)) return 'exists';
      executions.set(name, 'running');
      queue.push({ sagaId, generation, began: false });
      return 'started';
    },
    look: async (sagaId, generation) => executions.get(executionName(sagaId, generation)) ?? 'missing',
    wake: async (token) => {
      woken.add(token);
      return true;
    },
  };
  const engine = options.engineThrough?.(own) ?? own;
  const warnings: string[] = [];
  const log = { info: () => undefined, warn: (message: string) => void warnings.push(message) };
  const advanceOnce = createAdvance({
    store,
    engine,
    clock,
    evaluate,
    executionLink: (arn) => `https://console.test/${arn}`,
    consoleUrl: 'https://console.test',
    ...(options.httpToolFunction && { httpToolFunction: options.httpToolFunction }),
    ...(options.maxHistoryEvents === undefined ? {} : { maxHistoryEvents: options.maxHistoryEvents }),
  });
  const announce = createAnnounceAwait({ store, engine });
  const ports = {
    store,
    engine,
    clock,
    evaluate,
    tools: {
      invoke: (functionName: string, payload: ToolRequest) => {
        counts.invocations += 1;
        return options.invoke(functionName, payload);
      },
    },
    ...(options.httpToolFunction && { httpToolFunction: options.httpToolFunction }),
    ...(options.checkEpoch && { checkEpoch: options.checkEpoch }),
    ...(options.projectOf && { projectOf: options.projectOf }),
  };
  /** An invocation of a function that has a quarter of an hour. */
  const invocation = () => ({ deadlineMs: clock.nowMs() + FUNCTION_MS });
  const submit = createSubmitStep(ports);
  const start = createStartSaga({ ...ports, driveInline: createDriveInline(ports) });
  const callTool = createCallTool({ ...ports, start, submit });
  const park = createParkSaga({ ...ports, ...(options.saveFiles && { saveFiles: options.saveFiles }) });
  const sweep = createSweep({ store, engine, clock, log });

  const advance = async (state: {
    sagaId: string;
    generation: number;
    outcome: unknown;
    alert?: unknown;
  }): Promise<EngineState> => {
    const event = eventOf(state);
    const run = () => advanceOnce(state.sagaId, state.generation, event, 'arn:execution');
    if (options.replay === true) await run();
    return run();
  };

  /** One turn of an execution: acts on what Advance answered, and asks it again. */
  const turn = async (execution: Execution, state: EngineState): Promise<void> => {
    if (state.action === 'ALERTED' || state.action === 'UNALERTED') {
      execution.state = undefined;
      return;
    }
    counts.transitions += 3;
    if (counts.transitions > MAX_TRANSITIONS) throw new Error('the saga does not end');
    const { sagaId, generation } = execution;
    let outcome: unknown;
    switch (state.action) {
      case 'END':
        execution.state = undefined;
        return;
      case 'ESCALATE': {
        const refused = options.onAlert?.(state);
        if (refused === undefined) alerts.push(state);
        const alert = refused ?? { MessageId: `message-${alerts.length}` };
        execution.state = await advance({ ...state, outcome: undefined, alert });
        return;
      }
      case 'NOTIFY':
        alerts.push(state);
        execution.state = undefined;
        return;
      case 'PAUSE':
        await clock.advance(state.seconds * 1000);
        break;
      case 'AWAIT': {
        const token = `${sagaId} ${generation} ${counts.transitions}`;
        const entered = clock.now().toISOString();
        await announce({ sagaId, generation, step: state.stepIndex, entered, retry: 0, token });
        if (state.waitsFor === 'children') {
          execution.waiting = woken.has(token)
            ? undefined
            : { token, untilMs: clock.nowMs() + state.timeoutSeconds * 1000 };
          if (execution.waiting !== undefined) return;
          break;
        }
        const answered = (await options.onAwait?.(state)) ?? false;
        if (!answered && !woken.has(token)) await clock.advance(state.timeoutSeconds * 1000);
        break;
      }
      case 'INVOKE':
        counts.invocations += 1;
        outcome = await options.invoke(state.functionName, state.payload);
        break;
    }
    execution.state = await advance({ ...state, outcome });
  };

  /** The next turn of an execution. The first turn, and the one after a wait, only ask Advance. */
  const step = async (execution: Execution): Promise<void> => {
    const { sagaId, generation, state } = execution;
    if (execution.began && state !== undefined && execution.waiting === undefined) {
      await turn(execution, state);
      return;
    }
    execution.began = true;
    execution.waiting = undefined;
    execution.state = await advance({ ...(state ?? { sagaId, generation }), outcome: undefined });
  };

  const isOver = ({ began, state }: Execution): boolean => began && state === undefined;

  const execute = async (sagaId: string, generation: number): Promise<void> => {
    const execution: Execution = { sagaId, generation, began: false };
    do await step(execution);
    while (!isOver(execution) && execution.waiting === undefined);
  };

  /**
   * A dead execution is swept up by name five seconds later, while lost calls may still act. Everything
   * else is swept by the clock.
   */
  const sweepUp = async (): Promise<boolean> => {
    await clock.advance(5_000);
    const found = dead.splice(0);
    try {
      const named = await Promise.all(found.map((sagaId) => sweep({ sagaId, asked: false })));
      const reports = [...named, await sweep()];
      return reports.some(({ resumed, woken: again }) => resumed.length > 0 || again.length > 0);
    } catch (error) {
      if (!(error instanceof Crash)) throw error;
      dead.push(...found);
      return true;
    }
  };

  const isDue = ({ waiting }: Execution): boolean =>
    waiting !== undefined && (woken.has(waiting.token) || waiting.untilMs <= clock.nowMs());

  /**
   * The next execution that may have a turn. One that waits for children has a turn when it is woken, or when
   * its wait is over.
   */
  const takeNext = (): Execution | undefined => {
    const at = queue.findIndex((execution) => execution.waiting === undefined || isDue(execution));
    return at === -1 ? undefined : queue.splice(at, 1)[0];
  };

  /** When nothing moves by itself, goes on to the first end of a wait. */
  const skipToEndOfWait = async (): Promise<boolean> => {
    const ends = queue.flatMap(({ waiting }) => (waiting === undefined ? [] : [waiting.untilMs]));
    if (ends.length === 0) return false;
    await clock.advance(Math.max(0, Math.min(...ends) - clock.nowMs()));
    return true;
  };

  /** Runs until no saga is open. Executions take turns, so that branches run side by side. */
  const settle = async (): Promise<void> => {
    let idle = 0;
    for (let round = 0; round < MAX_TRANSITIONS; round += 1) {
      const next = takeNext();
      if (next === undefined) {
        if ((await options.onQuiet?.()) === true) continue;
        idle = (await sweepUp()) ? 0 : idle + 1;
        // The sweeper takes this long to notice that a wake-up was lost.
        if (idle === 0 || (queue.length > 0 && idle < IDLE_SWEEPS)) continue;
        if (!(await skipToEndOfWait())) return;
        continue;
      }
      try {
        await step(next);
        if (!isOver(next)) {
          queue.push(next);
          continue;
        }
      } catch (error) {
        if (!(error instanceof Crash)) throw error;
        dead.push(next.sagaId);
      }
      executions.set(executionName(next.sagaId, next.generation), 'ended');
    }
    throw new Error('the saga never settles');
  };

  return {
    engine,
    alerts,
    counts,
    warnings,
    sweep,
    settle,
    /** The first answer to an execution of this generation. */
    begin: (sagaId: string, generation: number) => advance({ sagaId, generation, outcome: undefined }),
    /** Runs one execution from its beginning, as a redrive or a second engine would. */
    execute,
    start: (request: Parameters<typeof start>[0]) => start(request, invocation()),
    submit: (request: SubmitStepInput) => submit(request, invocation()),
    callTool: (request: CallToolInput) => callTool(request, invocation()),
    park: (request: ParkSagaInput) => park(request, invocation()),
    close: createCloseSaga({ store, engine, clock }),
    answer: createAnswer({ store, engine, clock }),
    operate: createOperate({ store, engine, clock }),
    rewind: createRewindSaga({ store, engine, clock, evaluate }),
  };
};

/**
 * The executions of state machines on loopback. It owns what runs and its history, both in memory. A journal
 * file keeps names and ends. So after the process has died, its executions are shown as aborted, as if a
 * service had lost them.
 */
import { appendFile, mkdir, readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setImmediate as eventsToArrive } from 'node:timers/promises';
import type { StateMachine } from 'aws-local-stepfunctions';
import * as z from 'zod';
import { mayBeDropped } from '../in-background.ts';
import { createPlaces } from '../places.ts';
import { adaptDefinition, type TaskResources } from './definition.ts';
import { createHistory, type EngineEvent, type HistoryEvent } from './history.ts';
import { createKept } from './kept.ts';
import { DATA_LIMIT_EXCEEDED, dataLimitCause, HISTORY_LIMIT, isOverDataLimit } from './limits.ts';
import { createSeat, type Seat } from './seat.ts';
import { NOTHING, TaskError } from './task-error.ts';
import { type TaskServices, TOKEN_PREFIX, taskHandler } from './tasks.ts';
import { createTokens } from './tokens.ts';

type ExecutionStatus = 'RUNNING' | 'SUCCEEDED' | 'FAILED' | 'ABORTED' | 'TIMED_OUT';

export interface Execution {
  executionArn: string;
  stateMachineArn: string;
  name: string;
  status: ExecutionStatus;
  input: string;
  output?: string;
  error?: string;
  cause?: string;
  startMs: number;
  stopMs?: number;
}

const recordSchema = z.object({
  executionArn: z.string(),
  stateMachineArn: z.string(),
  name: z.string(),
  status: z.enum(['RUNNING', 'SUCCEEDED', 'FAILED', 'ABORTED', 'TIMED_OUT']),
  input: z.string(),
  output: z.string().optional(),
  error: z.string().optional(),
  cause: z.string().optional(),
  startMs: z.number(),
  stopMs: z.number().optional(),
});

interface StateMachineSource {
  stateMachineArn: string;
  /** The ASL text, with `${Name}` placeholders. */
  definition: string;
  substitutions: Readonly<Record<string, string>>;
}

type Loaded = ReturnType<typeof adaptDefinition>;

const loadJournal = async (file: string | undefined): Promise<Map<string, Execution>> => {
  const executions = new Map<string, Execution>();
  if (file === undefined) return executions;
  const text = await readFile(file, 'utf8').catch(() => '');
  for (const line of text.split('\n').filter((one) => one !== '')) {
    let value: unknown;
    try {
      value = JSON.parse(line);
    } catch {
      continue; // the last line of a process that was killed while it wrote
    }
    const record = recordSchema.safeParse(value);
    if (record.success) executions.set(record.data.executionArn, record.data);
  }
  const now = Date.now();
  for (const execution of executions.values()) {
    if (execution.status === 'RUNNING') Object.assign(execution, { status: 'ABORTED', stopMs: now });
  }
  return executions;
};

const executionArnOf = (stateMachineArn: string, name: string): string =>
  `${stateMachineArn.replace(':stateMachine:', ':execution:')}:${name}`;

export interface ExecutionsOptions {
  machines: readonly StateMachineSource[];
  services: TaskServices;
  /** Names and ends of executions, one JSON per line. */
  journalFile?: string;
  /** Called when an execution begins. The function that it returns is called when that execution ends. */
  onBegin?: () => () => void;
  /** Called with what EventBridge's "Step Functions Execution Status Change" reports. */
  onEnd?: (execution: Execution) => void;
  /** How many executions move at a time. */
  places?: number;
  /** How many ended executions are kept with history and output. */
  keeps?: number;
}

/** Loaded by the first execution: many clouds never run a saga, and the engine loads a whole validator and SDK. */
const loadEngine = async (): Promise<typeof StateMachine> =>
  (await import('aws-local-stepfunctions')).StateMachine;

/** They share our process with the functions. More would only make each of them slower. */
const PLACES = 16;

export const createExecutions = async (options: ExecutionsOptions) => {
  const { services, journalFile } = options;
  const machines = new Map<string, Loaded>(
    options.machines.map((source) => [
      source.stateMachineArn,
      adaptDefinition(source.definition, source.substitutions),
    ]),
  );
  const executions = await loadJournal(journalFile);
  const histories = new Map<string, readonly HistoryEvent[]>();
  const running = new Map<string, { abort: () => void; done: Promise<void> }>();
  const tokens = createTokens();
  const places = createPlaces(options.places ?? PLACES);
  const seats = new Map<string, Seat>();
  const kept = createKept((executionArn) => histories.delete(executionArn), options.keeps);
  for (const execution of executions.values()) kept.ended(execution);
  let started = 0;
  let closing = false;
  let writing =
    journalFile === undefined
      ? Promise.resolve()
      : mkdir(dirname(journalFile), { recursive: true }).then(() => undefined);

  const journal = (execution: Execution): void => {
    if (journalFile === undefined) return;
    // A failed write (a full disk) may have left half a line, so the next one begins with a newline.
    const line = `\n${JSON.stringify(execution)}\n`;
    writing = writing.then(() => appendFile(journalFile, line)).catch(() => undefined);
  };

  const end = (execution: Execution, how: Partial<Execution>): void => {
    if (closing || execution.status !== 'RUNNING') return;
    Object.assign(execution, how, { stopMs: Date.now() });
    tokens.close(execution.executionArn);
    seats.get(execution.executionArn)?.close();
    seats.delete(execution.executionArn);
    journal(execution);
    kept.ended(execution);
    options.onEnd?.(execution);
  };

  /** Limits at which the service ends an execution, but the engine does not. */
  const excessOf = (event: EngineEvent, hasRoom: boolean) => {
    if (!hasRoom) return HISTORY_LIMIT;
    if (event.type !== 'StateExited' || !isOverDataLimit(JSON.stringify(event.state?.output ?? null)))
      return undefined;
    return {
      error: DATA_LIMIT_EXCEEDED,
      cause: dataLimitCause(event.state?.name ?? '', 'returned a result'),
    };
  };

  /** Follows the events: they are the history, and show when a waiting state was left. */
  const record = async (execution: Execution, tasks: TaskResources, events: AsyncIterable<EngineEvent>) => {
    const history = createHistory(tasks);
    histories.set(execution.executionArn, history.events);
    for await (const event of events) {
      const excess = excessOf(event, history.add(event));
      if (excess !== undefined) {
        history.fail(excess);
        end(execution, { status: 'FAILED', ...excess });
        running.get(execution.executionArn)?.abort();
        return;
      }
      if (event.type === 'StateFailed' || event.type === 'StateExited') {
        // Events come a little late: by now the next state may wait on a token of its own.
        tokens.close(execution.executionArn, event.state?.name ?? '');
      }
      if (event.type === 'StateRetried' || (event.type === 'StateEntered' && event.state?.type === 'Wait'))
        seats.get(execution.executionArn)?.leave();
    }
  };

  /** A task of an execution that was still running after all its events so far. */
  const handlerOf = (execution: Execution, state: string, resource: string, machine: Loaded) => {
    const largeResult = machine.largeResults.get(state) ?? NOTHING;
    const decides = state === machine.definition.StartAt;
    const handle = taskHandler({ state, resource, largeResult }, services, tokens);
    const begin = async (input: unknown): Promise<unknown> => {
      await eventsToArrive();
      const seat = seats.get(execution.executionArn);
      await seat?.beforeCall();
      if (execution.status === 'RUNNING') return handle(input, decides ? undefined : seat?.leave);
      throw new TaskError('States.Runtime', 'The execution was ended.', NOTHING);
    };
    // The engine calls it before it has checked the task's timeout, and drops it when that is not a number.
    return (input: unknown): Promise<unknown> => mayBeDropped(begin(input));
  };

  const run = (Machine: typeof StateMachine, execution: Execution, loaded: Loaded) => {
    const { definition, tasks } = loaded;
    const handlers = Object.fromEntries(
      [...tasks].map(([state, resource]) => [state, handlerOf(execution, state, resource, loaded)]),
    );
    let enteredMs = 0;
    const context = {
      Execution: { Id: execution.executionArn, Name: execution.name },
      // The engine does not say which attempt it is. Those of one state are told apart by their time here, which
      // goes on also when the clock of the machine is set back.
      State: {
        get EnteredTime() {
          enteredMs = Math.max(Date.now(), enteredMs + 1);
          return new Date(enteredMs).toISOString();
        },
        RetryCount: 0,
      },
      Task: {
        // Read once per attempt, by the Parameters that hand it out.
        get Token() {
          return `${TOKEN_PREFIX}${tokens.mint(execution.executionArn)}`;
        },
      },
    };
    const machine = new Machine(definition, { validationOptions: { noValidate: true } });
    const machineRun = machine.run(JSON.parse(execution.input), {
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- tasks answer JSON
      overrides: { taskResourceLocalHandlers: handlers as never },
      context,
    });
    const recording = record(execution, tasks, machineRun.eventLogs);
    const done = machineRun.result.then(
      (output) => end(execution, { status: 'SUCCEEDED', output: JSON.stringify(output) }),
      (error: unknown) => {
        const failed = error instanceof Error && error.cause instanceof Error ? error.cause : error;
        const name = failed instanceof Error ? failed.name : 'States.Runtime';
        end(execution, {
          status:
            name === 'ExecutionTimeoutError'
              ? 'TIMED_OUT'
              : name === 'ExecutionAbortedError'
                ? 'ABORTED'
                : 'FAILED',
          error: name === 'ExecutionTimeoutError' ? 'States.Timeout' : name,
          cause: failed instanceof Error ? failed.message : String(failed),
        });
      },
    );
    return { abort: () => machineRun.abort(), done: Promise.allSettled([done, recording]) };
  };

  /** Waits for its turn. Until then the execution counts as running and has done nothing. */
  const begin = (execution: Execution, machine: Loaded): void => {
    const { executionArn } = execution;
    const seat = createSeat(places, (started += 1));
    seats.set(executionArn, seat);
    let abort = (): void => undefined;
    const done = seat.first().then(async () => {
      const Machine = await loadEngine();
      if (closing || execution.status !== 'RUNNING') return;
      const under = run(Machine, execution, machine);
      ({ abort } = under);
      await under.done;
    });
    const over = options.onBegin?.();
    const ended = (): void => {
      running.delete(executionArn);
      over?.();
    };
    running.set(executionArn, { abort: () => abort(), done: done.then(ended, ended) });
  };

  return {
    tokens,
    machineArns: [...machines.keys()],
    get: (executionArn: string): Execution | undefined => executions.get(executionArn),
    history: (executionArn: string): readonly HistoryEvent[] => histories.get(executionArn) ?? [],
    list: (): Execution[] => [...executions.values()],
    /** Idempotent like the service: the same name and input while it runs is the same execution. */
    start: (stateMachineArn: string, name: string, input: string): Execution | 'exists' | 'no-machine' => {
      const machine = machines.get(stateMachineArn);
      if (machine === undefined) return 'no-machine';
      const executionArn = executionArnOf(stateMachineArn, name);
      const known = executions.get(executionArn);
      if (known !== undefined) return known.status === 'RUNNING' && known.input === input ? known : 'exists';
      const execution: Execution = {
        executionArn,
        stateMachineArn,
        name,
        status: 'RUNNING',
        input,
        startMs: Date.now(),
      };
      executions.set(executionArn, execution);
      journal(execution);
      begin(execution, machine);
      return execution;
    },
    stop: (execution: Execution, error?: string, cause?: string): void => {
      end(execution, {
        status: 'ABORTED',
        ...(error === undefined ? {} : { error }),
        ...(cause === undefined ? {} : { cause }),
      });
      running.get(execution.executionArn)?.abort();
    },
    /** Resolves when nothing runs. */
    idle: async (): Promise<void> => {
      await Promise.all([...running.values()].map(({ done }) => done));
    },
    /**
     * Stops all, like the end of the process. The journal still says RUNNING, so the next process reports
     * them as aborted.
     */
    close: async (): Promise<void> => {
      closing = true;
      for (const { abort } of running.values()) abort();
      await writing;
    },
  };
};

export type Executions = Awaited<ReturnType<typeof createExecutions>>;

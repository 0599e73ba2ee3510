/**
 * Wraps tools that are objects with `execute`, as most hosts have them, so that a checkpoint is taken before
 * each. Nothing else changes.
 */
import { requireFields } from './given.ts';
import { freshId } from './ids.ts';
import type { Run } from './run.ts';
import type { ToolCall } from './tool-call.ts';

/** What a host gives a tool beside its input. */
interface HostOptions {
  toolCallId?: unknown;
  abortSignal?: AbortSignal | undefined;
}

type Execute = (input: unknown, options?: HostOptions, ...rest: unknown[]) => unknown;

const isExecute = (value: unknown): value is Execute => typeof value === 'function';

/**
 * The host's call in the form that a run accepts. Without an id from the host, it counts as a call of its
 * own.
 */
export const callOf = (name: string, input: unknown, options: HostOptions | undefined): ToolCall => {
  const id = options?.toolCallId;
  const own = typeof id === 'string' && id !== '' ? id : freshId('call');
  return { id: own, name, input, signal: options?.abortSignal };
};

const isGenerator = (execute: Execute): boolean => execute.constructor.name === 'AsyncGeneratorFunction';

const isIterable = (value: unknown): value is AsyncIterable<unknown> =>
  typeof value === 'object' && value !== null && Symbol.asyncIterator in value;

/** The result of a tool that streams its output so far: the last output. */
const lastOf = async (outputs: AsyncIterable<unknown>): Promise<unknown> => {
  let last: unknown;
  for await (const output of outputs) last = output;
  return last;
};

const guarded = (run: Run, name: string, tool: object, execute: Execute): Execute => {
  /** The end of the run reaches the tool too, even when the host was not given the run's signal. */
  const start: Execute = (input, options, ...rest) => {
    const signals = [run.signal, options?.abortSignal].filter((signal) => signal !== undefined);
    const given = options && { ...options, abortSignal: AbortSignal.any(signals) };
    return execute.call(tool, input, given, ...rest);
  };
  if (!isGenerator(execute)) {
    return async (input, options, ...rest) => {
      const output = await run.guard(callOf(name, input, options), () => start(input, options, ...rest));
      // Only a generator shows beforehand that it streams. From any other streaming tool the host gets the
      // last output.
      return isIterable(output) ? lastOf(output) : output;
    };
  }
  // For tools that stream, the host expects an iterable, not a promise of one.
  return async function* (input, options, ...rest) {
    await run.before(callOf(name, input, options));
    const made = start(input, options, ...rest);
    if (isIterable(made)) yield* made;
  };
};

/** A copy of the tool with another `execute`. Works for a frozen tool too. */
export const withExecute = <Tool extends object>(tool: Tool, execute: Execute): Tool => {
  const value = { value: execute, enumerable: true, configurable: true, writable: true };
  const members = { ...Object.getOwnPropertyDescriptors(tool), execute: value };
  return Object.create(Object.getPrototypeOf(tool), members);
};

/**
 * The same tools, each with a checkpoint before it unless it only reads. A tool without `execute` runs
 * somewhere else and is left as it is, because its calls cannot be seen here.
 */
export const checkpointed = <Tools extends Record<string, object>>(tools: Tools, run: Run): Tools => {
  requireFields('checkpointed', { tools, run }, { tools: 'object', run: 'run' });
  const wrapped = Object.entries(tools).map(([name, tool]) => {
    const execute: unknown = Reflect.get(tool, 'execute');
    return [name, isExecute(execute) ? withExecute(tool, guarded(run, name, tool, execute)) : tool] as const;
  });
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the same names, each with a tool of the same type
  return Object.fromEntries(wrapped) as Tools;
};

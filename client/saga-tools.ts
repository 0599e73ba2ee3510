/**
 * Makes an agent's own loop an interactive saga. Calls that change something go through the saga, under the
 * host's id of the call, so that each happens once and can be taken back. Reads do not.
 */
import { isJsonObject } from '../contract/json.ts';
import type { StepAnswer } from '../contract/saga-answers.ts';
import type { Tool } from '../kit/define-tool.ts';
import { callOf, withExecute } from './checkpointed.ts';
import { isReadOnly } from './classify.ts';
import { errorNamed, errors } from './errors.ts';
import { requireFields, requireOnly } from './given.ts';
import type { Run } from './run.ts';
import type { Saga } from './saga.ts';
import type { ToolCall } from './tool-call.ts';
import { pause } from './waiting.ts';

export interface SagaToolsOptions {
  /** The turn: the steps belong to its message, and its end ends the waiting. */
  run?: Pick<Run, 'sessionId' | 'messageId' | 'signal'>;
  /** Names of tools that only read, in addition to those whose names and declarations say so. */
  reads?: readonly string[];
  /**
   * How long a call waits for a person's approval. After that it throws `ApprovalPending`. Default: as long
   * as the run lasts.
   */
  approvalSeconds?: number;
  signal?: AbortSignal;
}

/** A tool in the form that hosts accept. */
export interface HostTool {
  description: string;
  /** A schema that hosts with support for zod or Standard Schema accept. */
  inputSchema: Tool['definition']['input'];
  execute(
    input: unknown,
    options?: { toolCallId?: string; abortSignal?: AbortSignal | undefined },
  ): Promise<unknown>;
}

/** Pause between two looks for an approval. */
const APPROVAL_POLL_MS = 3000;

const WENT: Record<Exclude<StepAnswer['status'], 'committed'>, string> = {
  rejected: 'Nothing happened',
  undone: 'It may have happened, and was taken back',
  awaiting: 'Nobody approved it in time. Nothing was done; when somebody approves it later, it is done then',
  running: 'It is not settled yet',
  failed: 'It is not known what happened; a person has to look',
};

/** What the host gets: the tool's result, or an error that the model is told. */
const resultOf = (tool: string, step: StepAnswer): unknown => {
  if (step.status === 'committed') return step.result ?? null;
  const reason = step.error === undefined ? '' : ` ${step.error.name}: ${step.error.message}`;
  const message = `${tool}: ${WENT[step.status]}.${reason}`;
  const unnamed = step.status === 'awaiting' ? 'ApprovalPending' : 'OutcomeUnknown';
  throw errorNamed(step.error?.name ?? unnamed, message);
};

interface Submitting {
  saga: Saga;
  options: SagaToolsOptions;
}

/** The end of the turn also ends the waiting. */
const endOf = ({ signal, run }: SagaToolsOptions): AbortSignal =>
  AbortSignal.any([signal, run?.signal].filter((one) => one !== undefined));

/** Submits one call until it is settled. The same id is the same step, so submitting it again only waits. */
const submitCall = async (
  { saga, options }: Submitting,
  call: ToolCall,
  version?: string,
): Promise<unknown> => {
  const { run, approvalSeconds = Number.POSITIVE_INFINITY } = options;
  const signal = endOf(options);
  // Other calls came first. Once this call was submitted, its outcome is the answer.
  call.signal?.throwIfAborted();
  if (!isJsonObject(call.input)) throw new errors.InvalidArguments(`${call.name} takes an object of JSON.`);
  const step = {
    stepId: call.id,
    tool: call.name,
    version,
    arguments: call.input,
    sessionId: run?.sessionId,
    messageId: run?.messageId,
    observe: false,
  };
  const givesUp = Date.now() + approvalSeconds * 1000;
  const isGivenUp = (): boolean => Date.now() >= givesUp || call.signal?.aborted === true;
  for (;;) {
    const answer = await saga.submit(step, { signal });
    const { status } = answer.step;
    if (status !== 'running' && (status !== 'awaiting' || isGivenUp())) {
      return resultOf(call.name, answer.step);
    }
    if (status === 'awaiting') await pause(APPROVAL_POLL_MS, signal);
  }
};

/** A saga takes one step at a time, and hosts call tools side by side. */
const inTurn = () => {
  let last: Promise<unknown> = Promise.resolve();
  return <T>(work: () => Promise<T>): Promise<T> => {
    const mine = last.then(work);
    last = mine.catch(() => undefined);
    return mine;
  };
};

type Turn = ReturnType<typeof inTurn>;

const ofHost = (name: string, tool: object, { saga, options }: Submitting, turn: Turn): object =>
  withExecute(tool, (input, host) => {
    if (options.reads?.includes(name) !== true && !isReadOnly(name, input)) {
      return turn(() => submitCall({ saga, options }, callOf(name, input, host)));
    }
    const execute: unknown = Reflect.get(tool, 'execute');
    return typeof execute === 'function' ? execute.call(tool, input, host) : undefined;
  });

const ofKit = ({ definition }: Tool, { saga, options }: Submitting, turn: Turn): HostTool => {
  const { name, version, effect, description, input: inputSchema } = definition;
  const read = async (input: unknown): Promise<unknown> => {
    if (!isJsonObject(input)) throw new errors.InvalidArguments(`${name} takes an object of JSON.`);
    const { step } = await saga.read({ tool: name, version, arguments: input }, { signal: endOf(options) });
    return resultOf(name, step);
  };
  return {
    description,
    inputSchema,
    execute: (input, host) =>
      effect === 'read'
        ? read(input)
        : turn(() => submitCall({ saga, options }, callOf(name, input, host), version)),
  };
};

/**
 * Tools made with the kit, in the form that a host accepts. Reads are recognised by their effect, and are in
 * no ledger. The host's id of a call is the id of its step. So the same id again in the same saga is the same
 * step, also in another turn: a host that counts its calls anew in each turn needs a saga for each.
 */
export function sagaTools(
  tools: readonly Tool[],
  saga: Saga,
  options?: SagaToolsOptions,
): Record<string, HostTool>;
/**
 * The same tools of a host (`{ name: { execute } }`), but calls that change something become steps of the
 * saga and run where the catalog says. Their names must be in the catalog.
 */
export function sagaTools<HostTools extends Record<string, object>>(
  tools: HostTools,
  saga: Saga,
  options?: SagaToolsOptions,
): HostTools;
export function sagaTools(
  tools: readonly Tool[] | Record<string, object>,
  saga: Saga,
  options: SagaToolsOptions = {},
): Record<string, object> {
  requireFields(
    'sagaTools',
    { tools, saga },
    { tools: Array.isArray(tools) ? 'tools' : 'object', saga: 'saga' },
  );
  requireOnly('sagaTools', options, {
    'run?': 'object',
    'reads?': 'list',
    'approvalSeconds?': 'number',
    'signal?': 'signal',
  });
  const turn = inTurn();
  const submitting = { saga, options };
  const wrapped: (readonly [string, object])[] = Array.isArray(tools)
    ? tools.map((tool: Tool) => [tool.definition.name, ofKit(tool, submitting, turn)])
    : Object.entries(tools).map(([name, tool]) => [name, ofHost(name, tool, submitting, turn)]);
  return Object.fromEntries(wrapped);
}

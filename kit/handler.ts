/**
 * The Lambda function around tools. It owns the edge: the input schema, deadline and tombstone before
 * anything acts (S3, S4), and the three outcomes (S2). It never throws: if it cannot know what happened,
 * the outcome is unknown.
 */
import * as z from 'zod';
import { isJson, type Json, jsonProblem } from '../contract/json.ts';
import { type ToolRequest, toolRequest } from '../contract/tool-request.ts';
import type { Outcome } from '../core/saga/decide/saga-events.ts';
import { MAX_RESULT_BYTES } from '../core/saga/model/tool.ts';
import type { Tombstones } from '../core/saga/ports.ts';
import {
  describeError,
  describeThrown,
  findRefusal,
  type GuardDependencies,
  guarded,
  remainingMs,
} from '../core/saga/tools/tool-guard.ts';
import { referenceOf, residueText } from '../core/saga/tools/tool-protocol.ts';
import type { Tool, ToolCall, Undone } from './define-tool.ts';
import { endLambdaInstance } from './end-instance.ts';
import { heard } from './heard.ts';
import { ToolRejected, ToolUncertain } from './outcomes.ts';
import { createSpans } from './spans.ts';
import { createInstanceWatch, type FunctionContext, unwatched } from './watch-instance.ts';

export interface HandlerDependencies {
  tombstones: Tombstones;
  now?: () => number;
  /**
   * Ends a call that did not stop at its deadline. Default: on Lambda ends the process, elsewhere does
   * nothing.
   */
  endInstance?: () => void;
  /**
   * Called with what a tool threw, if it is neither `ToolRejected` nor `ToolUncertain`. Its message may hold
   * secrets of yours. The caller, its ledger and the model behind it then get only the error's name. Default:
   * they get its message too.
   */
  onError?: (thrown: unknown) => void;
}

const rejected = (name: string, message: string): Outcome => ({
  outcome: 'rejected',
  error: describeError(name, message),
  retryable: false,
});

type Describe = NonNullable<GuardDependencies['describe']>;

/** When the author is told the reason, nobody else is. */
const describing = (onError: HandlerDependencies['onError']): Describe => {
  if (onError === undefined) return describeThrown;
  const tell = heard(onError);
  return (thrown) => {
    tell(thrown);
    return { name: describeThrown(thrown).name, message: 'The tool failed. Who serves it was told why.' };
  };
};

/** The outcome that a tool's error stands for. */
const outcomeOf = (error: unknown, describe: Describe): Outcome => {
  if (error instanceof ToolRejected) {
    return {
      outcome: 'rejected',
      error: describeError(error.code, error.message),
      retryable: error.retryable,
      ...(error.retryAfterSeconds === undefined ? {} : { retryAfterSeconds: error.retryAfterSeconds }),
    };
  }
  if (error instanceof ToolUncertain) {
    const reference = error.externalRef === undefined ? {} : { externalRef: error.externalRef };
    const described = describeError(error.code, error.message);
    return { outcome: 'unknown', error: described, answered: error.answered, ...reference };
  }
  return { outcome: 'unknown', error: describe(error), answered: false };
};

/** The value as JSON, or the reason why it cannot be. */
const toJson = (value: unknown): { result: Json; sizeBytes: number } | { problem: string } => {
  try {
    const text = JSON.stringify(value) ?? 'null';
    const result: unknown = JSON.parse(text);
    return isJson(result)
      ? { result, sizeBytes: Buffer.byteLength(text) }
      : { problem: jsonProblem(result) ?? 'is no JSON' };
  } catch (error) {
    return { problem: `cannot be written as JSON: ${String(error)}` };
  }
};

/**
 * A result for the ledger. The call took effect, so a problem with the result is reported beside it, not
 * instead of it.
 */
const committed = (tool: Tool, value: unknown, input: unknown, describe: Describe): Outcome => {
  const invalid = (reason: string, more: { externalRef?: string } = {}): Outcome => ({
    outcome: 'committed',
    result: null,
    ...more,
    error: describeError('InvalidResult', reason),
  });
  try {
    const parsed = tool.definition.output.safeParse(value);
    if (!parsed.success) {
      return invalid(`The result does not match the tool's schema: ${parsed.error.issues[0]?.message ?? ''}`);
    }
    const externalRef = referenceOf(tool.externalRef(value, input));
    const reference = externalRef === undefined ? {} : { externalRef };
    const json = toJson(parsed.data);
    if ('problem' in json) return invalid(`The result ${json.problem}.`, reference);
    if (json.sizeBytes > MAX_RESULT_BYTES) {
      const message = `The result takes more than ${MAX_RESULT_BYTES} bytes; store it and return a reference.`;
      return { outcome: 'committed', result: null, ...reference, error: { name: 'ResultTooLarge', message } };
    }
    return { outcome: 'committed', result: json.result, ...reference };
  } catch (error) {
    const { name, message } = describe(error);
    return invalid(`The result could not be read: ${name}: ${message}`);
  }
};

/** The effect is undone, even if something is wrong with the rest of the answer. */
const undone = ({ result, ...said }: Exclude<Undone, void>): Outcome => {
  const told = toJson(result);
  const isKept = !('problem' in told) && told.sizeBytes <= MAX_RESULT_BYTES;
  const externalRef = referenceOf(said.externalRef);
  const residue = residueText(said.residue);
  return {
    outcome: 'committed',
    result: isKept ? told.result : null,
    ...(externalRef === undefined ? {} : { externalRef }),
    ...(residue === undefined ? {} : { residue }),
  };
};

const run = async (
  tool: Tool,
  request: ToolRequest,
  call: ToolCall,
  describe: Describe,
): Promise<Outcome> => {
  switch (request.operation) {
    case 'execute':
      return committed(tool, await tool.execute(request.arguments, call), request.arguments, describe);
    case 'probe': {
      const seen = await tool.probe(request.arguments, call);
      if (seen.happened === true) return committed(tool, seen.result, request.arguments, describe);
      if (seen.happened === false) return { outcome: 'absent' };
      return {
        outcome: 'unknown',
        error: { name: 'ProbeUnknown', message: 'The provider could not say.' },
        answered: true,
      };
    }
    case 'compensate':
      return undone((await tool.compensate(request, call)) ?? {});
  }
};

/** Whether the call can do harm when it comes late. A probe, or a tool that only reads, cannot. */
const mayAct = ({ definition }: Tool, { operation }: ToolRequest): boolean =>
  operation !== 'probe' && definition.effect !== 'read';

const makeCall = (request: ToolRequest, signal: AbortSignal, dependencies: GuardDependencies): ToolCall => ({
  sagaId: request.sagaId,
  step: request.step,
  attempt: request.attempt,
  idempotencyKey: request.idempotencyKey,
  forwardKey: request.forwardKey,
  ...(request.fencingToken === undefined ? {} : { fencingToken: request.fencingToken }),
  deadlineMs: request.deadlineMs,
  remainingMs: () => Math.max(1, remainingMs(request, dependencies.now())),
  signal,
  fence: async () => {
    const refusal = await findRefusal(request, dependencies);
    if (refusal === undefined) return;
    const { error, retryable } = refusal;
    throw new ToolRejected(error.name, error.message, { retryable });
  },
});

const check = (tools: readonly Tool[], event: unknown): { tool: Tool; request: ToolRequest } | Outcome => {
  const parsed = toolRequest.safeParse(event);
  if (!parsed.success)
    return rejected('InvalidArguments', `Not a tool request: ${z.prettifyError(parsed.error)}`);
  const request: ToolRequest = parsed.data;
  const tool = tools.find(
    ({ definition }) => definition.name === request.tool && definition.version === request.version,
  );
  if (tool === undefined) {
    const message = `This function does not serve ${request.tool}@${request.version}.`;
    return {
      outcome: 'rejected',
      error: { name: 'ToolUnavailable', message },
      retryable: true,
      reached: false,
    };
  }
  const input = tool.definition.input.safeParse(request.arguments);
  if (!input.success) {
    const [issue] = input.error.issues;
    return rejected(
      'InvalidArguments',
      `arguments.${issue?.path.join('.') ?? ''}: ${issue?.message ?? 'invalid'}`,
    );
  }
  return { tool, request };
};

/** Whether the provider makes a repeated call with the same key act only once. */
const knowsKeys = ({ definition: { effect, idempotencyWindowSeconds = 0 } }: Tool): boolean =>
  effect === 'read' || idempotencyWindowSeconds > 0;

/**
 * The handler of a function that serves these tools. It always answers an `Outcome`. In a traced function
 * each call is a span, which says whether the call did something, asked, or took something back.
 */
export const toolHandler = (tools: readonly Tool[], dependencies: HandlerDependencies) => {
  const describe = describing(dependencies.onError);
  const full = { now: Date.now, endInstance: endLambdaInstance, describe, ...dependencies };
  const trace = createSpans(process.env);
  const watch = dependencies.endInstance === undefined ? createInstanceWatch() : unwatched;
  return async (event: unknown, context?: FunctionContext): Promise<Outcome> => {
    const checked = check(tools, event);
    if ('outcome' in checked) return checked;
    const { tool, request } = checked;
    return trace(request, async () => {
      const unwatch = mayAct(tool, request) ? watch(request.deadlineMs, context) : undefined;
      try {
        return await guarded(request, { ...full, claims: !knowsKeys(tool) }, (signal) =>
          run(tool, request, makeCall(request, signal, full), describe).catch((error: unknown) =>
            outcomeOf(error, describe),
          ),
        );
      } catch (error) {
        return outcomeOf(error, describe);
      } finally {
        unwatch?.();
      }
    });
  };
};

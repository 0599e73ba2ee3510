/** Step Functions' JSON API, as far as sagas, and people who look at them, need it. */
import { type Context, Hono } from 'hono';
import * as z from 'zod';
import type { Execution, Executions } from './executions.ts';
import { isOverDataLimit, MAX_CAUSE_LENGTH, MAX_DATA_BYTES, MAX_ERROR_LENGTH } from './limits.ts';
import { TOKEN_PREFIX } from './tasks.ts';

const PREFIX = 'AWSStepFunctions.';
const MAX_EVENTS = 1000;

class ApiError extends Error {
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

/** Any JSON that travels through an execution. */
const data = z.string().refine((text) => !isOverDataLimit(text), {
  error: `Member must have length less than or equal to ${MAX_DATA_BYTES}`,
});

/**
 * Characters that a name may not have: spaces, characters with a meaning in an ARN, a path or a shell, and
 * control characters.
 */
const NOT_IN_NAMES = /[\s<>{}[\]?*"#%\\^|~`$&,;:/\p{Cc}]/u;

const startInput = z.object({
  stateMachineArn: z.string(),
  name: z.string().min(1).max(80).optional(),
  input: data.default('{}'),
});
const byExecution = z.object({ executionArn: z.string() });
const stopInput = byExecution.extend({ error: z.string().optional(), cause: z.string().optional() });
const historyInput = byExecution.extend({
  maxResults: z.int().min(0).max(MAX_EVENTS).default(MAX_EVENTS),
  reverseOrder: z.boolean().default(false),
  includeExecutionData: z.boolean().default(true),
  nextToken: z.string().optional(),
});
const listInput = z.object({ stateMachineArn: z.string(), statusFilter: z.string().optional() });
const success = z.object({ taskToken: z.string(), output: data });
const failure = z.object({
  taskToken: z.string(),
  error: z.string().max(MAX_ERROR_LENGTH).default(''),
  cause: z.string().max(MAX_CAUSE_LENGTH).default(''),
});
const heartbeat = z.object({ taskToken: z.string() });

const described = (execution: Execution) => ({
  executionArn: execution.executionArn,
  stateMachineArn: execution.stateMachineArn,
  name: execution.name,
  status: execution.status,
  startDate: execution.startMs / 1000,
  ...(execution.stopMs === undefined ? {} : { stopDate: execution.stopMs / 1000 }),
  input: execution.input,
  ...(execution.output === undefined ? {} : { output: execution.output }),
  ...(execution.error === undefined ? {} : { error: execution.error }),
  ...(execution.cause === undefined ? {} : { cause: execution.cause }),
});

const parseJson = (text: string, code: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    throw new ApiError(code, 'It is not JSON.');
  }
};

const actions = (executions: Executions) => {
  const find = (executionArn: string): Execution => {
    const execution = executions.get(executionArn);
    if (execution !== undefined) return execution;
    throw new ApiError('ExecutionDoesNotExist', `Execution Does Not Exist: '${executionArn}'`);
  };
  const token = (text: string): string => {
    if (!text.startsWith(TOKEN_PREFIX)) throw new ApiError('InvalidToken', 'Invalid Token');
    return text.slice(TOKEN_PREFIX.length);
  };
  const taken = (answer: ReturnType<Executions['tokens']['heartbeat']>) => {
    if (answer === 'taken') return {};
    throw new ApiError(answer, answer === 'TaskTimedOut' ? 'Task Timed Out' : 'Task does not exist');
  };

  const table: Record<string, (body: unknown) => object> = {
    StartExecution: (body) => {
      const { stateMachineArn, name = crypto.randomUUID(), input } = startInput.parse(body);
      if (NOT_IN_NAMES.test(name)) throw new ApiError('InvalidName', `Invalid Name: '${name}'`);
      parseJson(input, 'InvalidExecutionInput');
      const started = executions.start(stateMachineArn, name, input);
      if (started === 'no-machine')
        throw new ApiError('StateMachineDoesNotExist', `State Machine Does Not Exist: '${stateMachineArn}'`);
      if (started === 'exists')
        throw new ApiError('ExecutionAlreadyExists', `Execution Already Exists: '${name}'`);
      return { executionArn: started.executionArn, startDate: started.startMs / 1000 };
    },
    DescribeExecution: (body) => described(find(byExecution.parse(body).executionArn)),
    StopExecution: (body) => {
      const { executionArn, error, cause } = stopInput.parse(body);
      const execution = find(executionArn);
      executions.stop(execution, error, cause);
      return { stopDate: (execution.stopMs ?? Date.now()) / 1000 };
    },
    GetExecutionHistory: (body) => {
      const { executionArn, maxResults, reverseOrder, nextToken } = historyInput.parse(body);
      find(executionArn);
      const all = [...executions.history(executionArn)];
      if (reverseOrder) all.reverse();
      const from = Number(nextToken ?? 0);
      const size = maxResults === 0 ? MAX_EVENTS : maxResults;
      const more = from + size < all.length ? { nextToken: String(from + size) } : {};
      return { events: all.slice(from, from + size), ...more };
    },
    ListExecutions: (body) => {
      const { stateMachineArn, statusFilter } = listInput.parse(body);
      const mine = executions.list().filter((one) => one.stateMachineArn === stateMachineArn);
      const shown = mine.filter((one) => statusFilter === undefined || one.status === statusFilter);
      return { executions: shown.toReversed().map(described) };
    },
    SendTaskSuccess: (body) => {
      const { taskToken, output } = success.parse(body);
      return taken(executions.tokens.succeed(token(taskToken), parseJson(output, 'InvalidOutput')));
    },
    SendTaskFailure: (body) => {
      const { taskToken, error, cause } = failure.parse(body);
      return taken(executions.tokens.fail(token(taskToken), error, cause));
    },
    SendTaskHeartbeat: (body) => taken(executions.tokens.heartbeat(token(heartbeat.parse(body).taskToken))),
  };
  return table;
};

const refuse = (c: Context, code: string, message: string): Response =>
  c.json({ __type: `com.amazonaws.swf.service.v2.model#${code}`, message }, 400, {
    'content-type': 'application/x-amz-json-1.0',
    'x-amzn-errortype': code,
  });

/** Why a request is refused, or undefined. */
export type Guard = (
  request: Request,
  body: Uint8Array,
) => Promise<{ code: string; message: string } | undefined>;

export const createStepFunctionsApi = (
  executions: Executions,
  guard: Guard = async () => undefined,
): Hono => {
  const table = actions(executions);
  const app = new Hono();
  app.post('/', async (c) => {
    const body = new Uint8Array(await c.req.arrayBuffer());
    const refusal = await guard(c.req.raw, body);
    if (refusal !== undefined) return refuse(c, refusal.code, refusal.message);
    const target = c.req.header('x-amz-target') ?? '';
    const action = table[target.startsWith(PREFIX) ? target.slice(PREFIX.length) : ''];
    if (action === undefined)
      return refuse(c, 'UnknownOperationException', `${target} is not offered by the embedded cloud`);
    try {
      const answer = action(JSON.parse(Buffer.from(body).toString() || '{}'));
      return c.json(answer, 200, { 'content-type': 'application/x-amz-json-1.0' });
    } catch (error) {
      if (error instanceof ApiError) return refuse(c, error.code, error.message);
      if (error instanceof z.ZodError) return refuse(c, 'ValidationException', z.prettifyError(error));
      throw error;
    }
  });
  return app;
};

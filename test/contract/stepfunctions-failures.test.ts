/**
 * What fails in a state machine, and what the local engine makes of it, beside what AWS documents. Each row says in our words
 * what the documentation says, and on which page.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createExecutions, type Execution, type Executions } from '../../local/stepfunctions/executions.ts';
import { failing } from '../support/fakes/failing.ts';

/** What a call of the task answers: a result, an error of the function by name, a refused call, or nothing for so long. */
type Outcome = { ok: unknown } | { error?: string } | { refused: string } | { afterMs: number };

/** The pages of the Step Functions developer guide that the rows are from. */
const GUIDE = 'https://docs.aws.amazon.com/step-functions/latest/dg/';
const PAGES = {
  errors: 'concepts-error-handling.html',
  task: 'state-task.html',
  choice: 'state-choice.html',
  fail: 'state-fail.html',
  parallel: 'state-parallel.html',
};

interface Row {
  name: string;
  documented: string;
  /** The page that says so, when it is not `errors`. */
  page?: keyof typeof PAGES;
  /** The states; the first is where it starts. `Done` and `Caught` are added. */
  states: Record<string, object>;
  more?: object;
  /** One per call of the task; the last is repeated. */
  outcomes?: Outcome[];
  expected: { status: string; error?: string; calls?: number; output?: unknown };
}

const CALL = {
  Type: 'Task',
  Resource: 'arn:aws:states:::lambda:invoke',
  Parameters: { FunctionName: 'f', Payload: {} },
};
const task = (more: object = {}) => ({ Call: { ...CALL, ResultPath: '$.result', Next: 'Done', ...more } });
/** Without a pause in between: how long AWS waits is not looked at here. */
const retry = (ErrorEquals: string[], more: object = {}) => ({
  ErrorEquals,
  IntervalSeconds: 1,
  BackoffRate: 1,
  MaxDelaySeconds: 1,
  ...more,
});
const caught = (ErrorEquals: string[], more: object = {}) => ({ ErrorEquals, Next: 'Caught', ...more });

const ROWS: Row[] = [
  {
    name: 'no Retry, no Catch',
    documented: 'When a state reports an error, the default is that the whole execution fails.',
    states: task(),
    outcomes: [{ error: 'Boom' }],
    expected: { status: 'FAILED', error: 'Boom', calls: 1 },
  },
  {
    name: 'a Retry that names the error, without MaxAttempts',
    documented: 'MaxAttempts is 3 by default; then retrying ends and normal error handling goes on.',
    states: task({ Retry: [retry(['Boom'])] }),
    outcomes: [{ error: 'Boom' }],
    expected: { status: 'FAILED', error: 'Boom', calls: 4 },
  },
  {
    name: 'MaxAttempts 0',
    documented: 'A value of 0 says that the error is never retried.',
    states: task({ Retry: [retry(['Boom'], { MaxAttempts: 0 })] }),
    outcomes: [{ error: 'Boom' }],
    expected: { status: 'FAILED', error: 'Boom', calls: 1 },
  },
  {
    name: 'MaxAttempts 0 for one error before a retrier for all',
    documented: 'Retriers are looked at in order, and the first that names the error decides.',
    states: task({ Retry: [retry(['Boom'], { MaxAttempts: 0 }), retry(['States.ALL'], { MaxAttempts: 2 })] }),
    outcomes: [{ error: 'Boom' }],
    expected: { status: 'FAILED', error: 'Boom', calls: 1 },
  },
  {
    name: 'success at the last attempt',
    documented: 'When a retried task succeeds, the execution goes on as if it had never failed.',
    states: task({ Retry: [retry(['Boom'], { MaxAttempts: 2 })] }),
    outcomes: [{ error: 'Boom' }, { error: 'Boom' }, { ok: 1 }],
    expected: { status: 'SUCCEEDED', calls: 3, output: { result: { Payload: 1 } } },
  },
  {
    name: 'another error than the Retry names',
    documented: 'A retrier is for the errors in its ErrorEquals only.',
    states: task({ Retry: [retry(['Other'])] }),
    outcomes: [{ error: 'Boom' }],
    expected: { status: 'FAILED', error: 'Boom', calls: 1 },
  },
  {
    name: 'two retriers, two errors in turn',
    documented: 'Each retrier keeps its own count of attempts.',
    states: task({ Retry: [retry(['A'], { MaxAttempts: 1 }), retry(['B'], { MaxAttempts: 1 })] }),
    outcomes: [{ error: 'A' }, { error: 'B' }, { error: 'A' }],
    expected: { status: 'FAILED', error: 'A', calls: 3 },
  },
  {
    name: 'a retrier for all',
    documented: 'States.ALL is a wildcard for any known error name.',
    states: task({ Retry: [retry(['States.ALL'], { MaxAttempts: 1 })] }),
    outcomes: [{ error: 'Boom' }],
    expected: { status: 'FAILED', error: 'Boom', calls: 2 },
  },
  {
    name: 'a retrier for States.TaskFailed, and an error of the function',
    documented: 'In a Retry or Catch, States.TaskFailed is a wildcard for any error but States.Timeout.',
    states: task({ Retry: [retry(['States.TaskFailed'], { MaxAttempts: 1 })] }),
    outcomes: [{ error: 'Boom' }],
    expected: { status: 'FAILED', error: 'Boom', calls: 2 },
  },
  {
    name: 'a retrier for States.TaskFailed, and a time out',
    documented: 'In a Retry or Catch, States.TaskFailed is a wildcard for any error but States.Timeout.',
    states: task({ TimeoutSeconds: 1, Retry: [retry(['States.TaskFailed'])] }),
    outcomes: [{ afterMs: 60_000 }],
    expected: { status: 'FAILED', error: 'States.Timeout', calls: 1 },
  },
  {
    name: 'a time out, retried',
    documented:
      'A task that runs longer than TimeoutSeconds fails with States.Timeout, which can be retried.',
    states: task({ TimeoutSeconds: 1, Retry: [retry(['States.Timeout'], { MaxAttempts: 1 })] }),
    outcomes: [{ afterMs: 60_000 }, { ok: 1 }],
    expected: { status: 'SUCCEEDED', calls: 2 },
  },
  {
    name: 'the time limit from the input',
    page: 'task',
    documented: 'TimeoutSecondsPath selects the limit from the input of the state.',
    states: task({
      TimeoutSecondsPath: '$.limit',
      Catch: [caught(['States.Timeout'], { ResultPath: '$.why' })],
    }),
    outcomes: [{ afterMs: 60_000 }],
    expected: { status: 'SUCCEEDED', calls: 1, output: { why: { Error: 'States.Timeout' } } },
  },
  {
    name: 'a time limit that is no number',
    page: 'task',
    documented:
      'What a path selects must be a positive integer; else the state cannot run, and States.Runtime ends the execution, whatever Retry and Catch say. The task is not called.',
    states: task({
      TimeoutSecondsPath: '$.word',
      Retry: [retry(['States.ALL'])],
      Catch: [caught(['States.ALL'])],
    }),
    outcomes: [{ ok: 1 }],
    expected: { status: 'FAILED', error: 'States.Runtime', calls: 0 },
  },
  {
    name: 'a time limit that is not there',
    page: 'task',
    documented: 'A path that selects nothing is a States.Runtime error, which ends the execution.',
    states: task({ TimeoutSecondsPath: '$.none' }),
    outcomes: [{ ok: 1 }],
    expected: { status: 'FAILED', error: 'States.Runtime', calls: 0 },
  },
  {
    name: 'a Retry, then a Catch',
    documented: 'Retriers come first; catchers are looked at only when they do not resolve the error.',
    states: task({
      Retry: [retry(['Boom'], { MaxAttempts: 1 })],
      Catch: [caught(['Boom'], { ResultPath: '$.why' })],
    }),
    outcomes: [{ error: 'Boom' }],
    expected: { status: 'SUCCEEDED', calls: 2, output: { caught: true, why: { Error: 'Boom' } } },
  },
  {
    name: 'two catchers for one error',
    documented: 'Catchers are looked at in order; the first that names the error is taken.',
    states: task({
      Catch: [caught(['Boom'], { Next: 'Done', ResultPath: '$.first' }), caught(['States.ALL'])],
    }),
    outcomes: [{ error: 'Boom' }],
    expected: { status: 'SUCCEEDED', output: { first: { Error: 'Boom' } } },
  },
  {
    name: 'a Catch without ResultPath',
    documented: 'Its default is $: the error output replaces the input.',
    states: task({ Catch: [caught(['States.ALL'], { Next: 'Done' })] }),
    outcomes: [{ error: 'Boom' }],
    expected: { status: 'SUCCEEDED', output: { Error: 'Boom' } },
  },
  {
    name: 'a Catch whose ResultPath is null',
    documented: 'With ResultPath null the error output is thrown away and the input goes on.',
    states: task({ Catch: [caught(['States.ALL'], { Next: 'Done', ResultPath: null })] }),
    outcomes: [{ error: 'Boom' }],
    expected: { status: 'SUCCEEDED', output: { word: 'x', limit: 1 } },
  },
  {
    name: 'a catcher for States.TaskFailed, and a time out',
    documented: 'In a Retry or Catch, States.TaskFailed is a wildcard for any error but States.Timeout.',
    states: task({ TimeoutSeconds: 1, Catch: [caught(['States.TaskFailed'])] }),
    outcomes: [{ afterMs: 60_000 }],
    expected: { status: 'FAILED', error: 'States.Timeout' },
  },
  {
    name: 'a function that is throttled',
    documented:
      'What Lambda itself refuses is named Lambda. and the exception, such as Lambda.TooManyRequestsException.',
    states: task({ Retry: [retry(['Lambda.TooManyRequestsException'], { MaxAttempts: 1 })] }),
    outcomes: [{ refused: 'TooManyRequestsException' }, { ok: 1 }],
    expected: { status: 'SUCCEEDED', calls: 2 },
  },
  {
    name: 'a function that does not name its error',
    documented: 'An unhandled error of a function without a name is Lambda.Unknown.',
    states: task(),
    outcomes: [{}],
    expected: { status: 'FAILED', error: 'Lambda.Unknown' },
  },
  {
    name: 'parameters over the limit',
    documented: 'States.DataLimitExceeded ends the execution; States.ALL does not take it.',
    states: {
      Call: {
        ...CALL,
        Parameters: { FunctionName: 'f', Payload: { 'a.$': '$.large', 'b.$': '$.large' } },
        Catch: [caught(['States.ALL'])],
        Next: 'Done',
      },
    },
    outcomes: [{ ok: 1 }],
    expected: { status: 'FAILED', error: 'States.DataLimitExceeded', calls: 0 },
  },
  {
    name: 'a parameter that is not there',
    documented:
      'A States.Runtime error cannot be retried and always ends the execution; States.ALL does not take it. No task is called.',
    states: {
      Call: {
        ...CALL,
        Parameters: { FunctionName: 'f', 'Payload.$': '$.none' },
        Retry: [retry(['States.ALL'])],
        Catch: [caught(['States.ALL'])],
        Next: 'Done',
      },
    },
    outcomes: [{ ok: 1 }],
    expected: { status: 'FAILED', error: 'States.Runtime', calls: 0 },
  },
  {
    name: 'a Choice that fits nothing',
    page: 'choice',
    documented: 'Without a Default, an input that no rule fits fails with States.NoChoiceMatched.',
    states: { Which: { Type: 'Choice', Choices: [{ Variable: '$.word', StringEquals: 'y', Next: 'Done' }] } },
    expected: { status: 'FAILED', error: 'States.NoChoiceMatched' },
  },
  {
    name: 'a Fail state',
    page: 'fail',
    documented: 'It ends the execution as failed, with the Error and Cause it gives.',
    states: { End: { Type: 'Fail', Error: 'Ours', Cause: 'because' } },
    expected: { status: 'FAILED', error: 'Ours' },
  },
  {
    name: 'a branch of a Parallel fails',
    page: 'parallel',
    documented:
      'When a branch fails, the Parallel state fails with its error, which a Catch of the Parallel takes.',
    states: {
      Both: {
        Type: 'Parallel',
        Branches: [
          { StartAt: 'Call', States: { Call: { ...CALL, End: true } } },
          { StartAt: 'Pass', States: { Pass: { Type: 'Pass', End: true } } },
        ],
        Catch: [caught(['Boom'], { ResultPath: '$.why' })],
        Next: 'Done',
      },
    },
    outcomes: [{ error: 'Boom' }],
    expected: { status: 'SUCCEEDED', output: { caught: true, why: { Error: 'Boom' } } },
  },
  {
    name: 'a result over the limit, and a Retry and a Catch for all',
    documented: 'States.DataLimitExceeded is terminal: States.ALL does not take it.',
    states: task({ Retry: [retry(['States.ALL'])], Catch: [caught(['States.ALL'])] }),
    outcomes: [{ ok: 'x'.repeat(300_000) }],
    expected: { status: 'FAILED', error: 'States.DataLimitExceeded', calls: 1 },
  },
  {
    name: 'a result over the limit, and a Catch that names it before one for all',
    documented:
      'The page says only that States.ALL does not take it. The machine names it, and if AWS ends the execution all the same, the sweep starts it again.',
    states: task({ Catch: [caught(['States.DataLimitExceeded']), caught(['States.ALL'], { Next: 'Done' })] }),
    outcomes: [{ ok: 'x'.repeat(300_000) }],
    expected: { status: 'SUCCEEDED', calls: 1, output: { caught: true } },
  },
  {
    name: 'a result over the limit, and a Retry for States.TaskFailed',
    documented: 'In a Retry or Catch, States.TaskFailed is a wildcard for any error but States.Timeout.',
    states: task({ Retry: [retry(['States.TaskFailed'], { MaxAttempts: 1 })] }),
    outcomes: [{ ok: 'x'.repeat(300_000) }, { ok: 1 }],
    expected: { status: 'SUCCEEDED', calls: 2 },
  },
  {
    name: 'a task that cannot be run at all, and a Retry and a Catch for all',
    documented:
      'A States.Runtime error cannot be retried and always ends the execution; States.ALL does not take it.',
    states: {
      Call: {
        ...CALL,
        Resource: 'arn:aws:states:::lambda:invoke.waitForTaskToken',
        Retry: [retry(['States.ALL'])],
        Catch: [caught(['States.ALL'])],
        Next: 'Done',
      },
    },
    expected: { status: 'FAILED', error: 'States.Runtime', calls: 0 },
  },
  {
    name: 'a Retry for all but a time out',
    documented: 'A retrier for States.Timeout with MaxAttempts 0, before one for States.ALL, excepts it.',
    states: task({
      TimeoutSeconds: 1,
      Retry: [retry(['States.Timeout'], { MaxAttempts: 0 }), retry(['States.ALL'])],
    }),
    outcomes: [{ afterMs: 60_000 }],
    expected: { status: 'FAILED', error: 'States.Timeout', calls: 1 },
  },
  {
    name: 'a Catch for all, and a time out',
    documented: 'States.ALL is a wildcard for any known error name; States.Timeout is one.',
    states: task({ TimeoutSeconds: 1, Catch: [caught(['States.ALL'], { ResultPath: '$.why' })] }),
    outcomes: [{ afterMs: 60_000 }],
    expected: { status: 'SUCCEEDED', calls: 1, output: { why: { Error: 'States.Timeout' } } },
  },
  {
    name: 'the scenario of the guide: errors A, B, C, B',
    documented:
      'One retrier counts both errors that it names: two retries, then one by the other, then the Catch.',
    states: task({
      Retry: [retry(['A', 'B'], { MaxAttempts: 2 }), retry(['C'])],
      Catch: [caught(['States.ALL'], { ResultPath: '$.why' })],
    }),
    outcomes: [{ error: 'A' }, { error: 'B' }, { error: 'C' }, { error: 'B' }],
    expected: { status: 'SUCCEEDED', calls: 4, output: { caught: true, why: { Error: 'B' } } },
  },
  {
    name: 'a function that runs out of its own time',
    documented: 'Newer runtimes report it as Sandbox.Timedout, which States.TaskFailed takes.',
    states: task({ Retry: [retry(['States.TaskFailed'], { MaxAttempts: 1 })] }),
    outcomes: [{ error: 'Sandbox.Timedout' }, { ok: 1 }],
    expected: { status: 'SUCCEEDED', calls: 2 },
  },
  {
    name: 'an execution that takes too long',
    documented: 'After TimeoutSeconds of the state machine the execution has timed out, with States.Timeout.',
    more: { TimeoutSeconds: 1 },
    states: task(),
    outcomes: [{ afterMs: 60_000 }],
    expected: { status: 'TIMED_OUT', error: 'States.Timeout' },
  },
];

const arnOf = (index: number): string => `arn:aws:states:us-east-1:000000000000:stateMachine:row${index}`;
const INPUT = { word: 'x', limit: 1 };

const calls = ROWS.map(() => 0);
const ended = ROWS.map(() => Promise.withResolvers<Execution>());
const unhandled: unknown[] = [];
const onUnhandled = (error: unknown): unknown => unhandled.push(error);
const patience = new AbortController();
let executions: Executions;

const answer = async (index: number): Promise<{ payload: unknown; functionError: boolean }> => {
  const { outcomes = [] } = ROWS[index] ?? {};
  const outcome = outcomes[Math.min(calls[index] ?? 0, outcomes.length - 1)] ?? {};
  calls[index] = (calls[index] ?? 0) + 1;
  if ('ok' in outcome) return { payload: outcome.ok, functionError: false };
  if ('refused' in outcome)
    throw Object.assign(new Error('refused'), { name: outcome.refused, $metadata: {} });
  if ('afterMs' in outcome) {
    await delay(outcome.afterMs, undefined, { signal: patience.signal, ref: false });
    return { payload: null, functionError: false };
  }
  const payload = outcome.error === undefined ? {} : { errorType: outcome.error, errorMessage: 'why' };
  return { payload, functionError: true };
};

beforeAll(async () => {
  process.on('unhandledRejection', onUnhandled);
  executions = await createExecutions({
    machines: ROWS.map(({ states, more }, index) => ({
      stateMachineArn: arnOf(index),
      definition: JSON.stringify({
        ...more,
        StartAt: Object.keys(states)[0],
        States: {
          ...states,
          Done: { Type: 'Succeed' },
          Caught: { Type: 'Pass', Result: true, ResultPath: '$.caught', Next: 'Done' },
        },
      }).replaceAll('"FunctionName":"f"', `"FunctionName":"f${index}"`),
      substitutions: {},
    })),
    services: {
      invoke: (name) => answer(Number(name.slice(1))),
      publish: async () => ({ messageId: 'm' }),
    },
    onEnd: (execution) => ended[Number(/row(\d+)/.exec(execution.stateMachineArn)?.[1])]?.resolve(execution),
  });
  for (const index of ROWS.keys()) {
    const { states } = ROWS[index] ?? { states: {} };
    const large = JSON.stringify(states).includes('$.large') ? { large: 'x'.repeat(262_000) } : {};
    executions.start(arnOf(index), 'one', JSON.stringify({ ...INPUT, ...large }));
  }
});
afterAll(async () => {
  patience.abort();
  await executions.close();
  process.off('unhandledRejection', onUnhandled);
});

const CITED = ROWS.map((row, index) => ({ ...row, index, cited: `${GUIDE}${PAGES[row.page ?? 'errors']}` }));

test.each(CITED)('$name ($cited)', async ({ expected, index }) => {
  const execution = await ended[index]?.promise;
  const { output, ...rest } = expected;
  expect({ ...execution, calls: calls[index] }).toMatchObject(rest);
  if (output !== undefined) expect(JSON.parse(execution?.output ?? '')).toMatchObject(output as object);
});

test('a heartbeat, which the engine does not watch, is refused and not ignored', async () => {
  const definition = JSON.stringify({
    StartAt: 'Call',
    States: { Call: { ...CALL, HeartbeatSeconds: 5, End: true } },
  });
  const machines = [{ stateMachineArn: arnOf(0), definition, substitutions: {} }];
  const services = { invoke: () => answer(0), publish: async () => ({ messageId: 'm' }) };
  await failing(createExecutions({ machines, services }), 'ConfigurationError');
});

test('no promise of the engine is left without a handler', async () => {
  await Promise.all(ended.map(({ promise }) => promise));
  await executions.idle();
  expect(unhandled).toEqual([]);
  expect(ROWS.length).toBeGreaterThanOrEqual(20);
});

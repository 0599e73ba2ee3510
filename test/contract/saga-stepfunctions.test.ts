import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  DescribeExecutionCommand,
  GetExecutionHistoryCommand,
  SendTaskFailureCommand,
  SendTaskHeartbeatCommand,
  SendTaskSuccessCommand,
  SFNClient,
  StartExecutionCommand,
  StopExecutionCommand,
} from '@aws-sdk/client-sfn';
import { afterEach, describe, expect, test } from 'vitest';
import { type Endpoint, listenApp } from '../../local/listen.ts';
import { createStepFunctionsApi } from '../../local/stepfunctions/api.ts';
import { createExecutions, type Execution } from '../../local/stepfunctions/executions.ts';

const MACHINE = 'arn:aws:states:us-east-1:000000000000:stateMachine:m';

const DEFINITION = {
  QueryLanguage: 'JSONPath',
  StartAt: 'Call',
  States: {
    Call: {
      Type: 'Task',
      Resource: 'arn:aws:states:::lambda:invoke',
      Parameters: { 'FunctionName.$': '$.fn', 'Payload.$': '$.payload' },
      // A field that Parameters do not carry, as AWS resolves it.
      TimeoutSecondsPath: '$.limit',
      ResultPath: '$.outcome',
      Catch: [{ ErrorEquals: ['States.ALL'], ResultPath: '$.outcome', Next: 'Ask' }],
      Next: 'Ask',
    },
    Ask: {
      Type: 'Task',
      Resource: 'arn:aws:states:::lambda:invoke.waitForTaskToken',
      Parameters: { FunctionName: '${Announce}', Payload: { 'token.$': '$$.Task.Token' } },
      TimeoutSeconds: 1,
      ResultPath: '$.answer',
      Catch: [{ ErrorEquals: ['States.ALL'], ResultPath: '$.answer', Next: 'Done' }],
      Next: 'Done',
    },
    Done: { Type: 'Succeed' },
  },
};

/** One task whose result is put beside its input, and a loop that goes nowhere. */
const LIMITS = {
  StartAt: 'Which',
  States: {
    Which: {
      Type: 'Choice',
      Choices: [{ Variable: '$.fn', StringEquals: 'loop', Next: 'Which' }],
      Default: 'Call',
    },
    Call: {
      Type: 'Task',
      Resource: 'arn:aws:states:::lambda:invoke',
      Parameters: { 'FunctionName.$': '$.fn', 'Payload.$': '$.payload' },
      ResultPath: '$.outcome',
      Catch: [
        { ErrorEquals: ['States.DataLimitExceeded'], ResultPath: '$.outcome', Next: 'Done' },
        { ErrorEquals: ['States.ALL'], ResultPath: '$.outcome', Next: 'Done' },
      ],
      Next: 'Again',
    },
    Again: {
      Type: 'Task',
      Resource: 'arn:aws:states:::lambda:invoke',
      Parameters: { FunctionName: 'again', 'Payload.$': '$.payload', 'Twice.$': '$.payload' },
      ResultPath: null,
      Catch: [{ ErrorEquals: ['States.ALL'], Next: 'Done' }],
      Next: 'Done',
    },
    Done: { Type: 'Succeed' },
  },
};

const cleanup: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of cleanup.splice(0).toReversed()) await close();
});

/** A machine whose functions are these, the client that drives it, and the tokens that were handed out. */
const setUp = async (
  functions: Record<string, (payload: unknown) => Promise<{ payload: unknown; functionError: boolean }>> = {},
  { journalFile, definition = DEFINITION }: { journalFile?: string; definition?: object } = {},
) => {
  const announced: string[] = [];
  const waiting: ((token: string) => void)[] = [];
  const ended: Execution[] = [];
  const payloads: unknown[] = [];
  const executions = await createExecutions({
    machines: [
      {
        stateMachineArn: MACHINE,
        definition: JSON.stringify(definition),
        substitutions: { Announce: 'announce' },
      },
    ],
    services: {
      invoke: async (name, payload) => {
        if (name === 'announce') {
          const { token } = payload as { token: string };
          announced.push(token);
          waiting.shift()?.(token);
          return { payload: {}, functionError: false };
        }
        payloads.push(payload);
        const fn = functions[name];
        if (fn === undefined)
          throw Object.assign(new Error('no function'), { name: 'ResourceNotFoundException', $metadata: {} });
        return fn(payload);
      },
      publish: async () => ({ messageId: 'm' }),
    },
    onEnd: (execution) => ended.push(execution),
    ...(journalFile === undefined ? {} : { journalFile }),
  });
  cleanup.push(() => executions.close());
  const endpoint: Endpoint = await listenApp(createStepFunctionsApi(executions));
  cleanup.push(() => endpoint.close());
  const sfn = new SFNClient({
    region: 'us-east-1',
    endpoint: endpoint.url,
    credentials: { accessKeyId: 'a', secretAccessKey: 'b' },
    maxAttempts: 1,
  });
  cleanup.push(async () => sfn.destroy());
  const arn = (name: string) => `${MACHINE.replace('stateMachine', 'execution')}:${name}`;
  return {
    sfn,
    executions,
    ended,
    payloads,
    announced,
    /** The next token that is handed out. */
    token: () =>
      announced.length > 0
        ? Promise.resolve(announced.at(-1) ?? '')
        : new Promise<string>((resolve) => waiting.push(resolve)),
    start: (name: string, input: object) =>
      sfn.send(new StartExecutionCommand({ stateMachineArn: MACHINE, name, input: JSON.stringify(input) })),
    describe: (name: string) => sfn.send(new DescribeExecutionCommand({ executionArn: arn(name) })),
    arn,
  };
};

const echo = async (payload: unknown) => ({ payload, functionError: false });
const input = { fn: 'echo', payload: { x: 1 }, limit: 5 };

describe('Step Functions on loopback, through the SDK', () => {
  test('runs tasks, hands out a token, and goes on with the answer', async () => {
    const { sfn, start, token, describe: look, executions, payloads, arn } = await setUp({ echo });
    await start('a', input);
    await sfn.send(new SendTaskHeartbeatCommand({ taskToken: await token() }));
    await sfn.send(new SendTaskSuccessCommand({ taskToken: await token(), output: '{"yes":true}' }));
    await executions.idle();
    const { status, output } = await look('a');
    expect(status).toBe('SUCCEEDED');
    expect(JSON.parse(output ?? '')).toMatchObject({
      answer: { yes: true },
      outcome: { Payload: { x: 1 }, StatusCode: 200 },
    });
    // The carried timeout is not the task's business.
    expect(payloads).toEqual([{ x: 1 }]);
    const { events } = await sfn.send(new GetExecutionHistoryCommand({ executionArn: arn('a') }));
    expect(events?.map(({ type }) => type)).toContain('TaskStateEntered');
    expect(events?.at(-1)?.type).toBe('ExecutionSucceeded');
  });

  test("names errors as AWS does: the function's own, a refused call, and running out of time", async () => {
    const {
      sfn,
      start,
      token,
      describe: look,
      executions,
    } = await setUp({
      fails: async () => ({ payload: { errorType: 'Throttled', errorMessage: 'slow' }, functionError: true }),
      hangs: () => new Promise(() => undefined),
    });
    const errors: string[] = [];
    for (const [name, fn] of [
      ['f', 'fails'],
      ['m', 'missing'],
      ['h', 'hangs'],
    ] as const) {
      await start(name, { ...input, fn, limit: 1 });
      await expect.poll(async () => (await token()).length, { timeout: 60_000 }).toBeGreaterThan(0);
      await executions.idle();
      errors.push(JSON.parse((await look(name)).output ?? '').outcome.Error);
    }
    expect(errors).toEqual(['Throttled', 'Lambda.ResourceNotFoundException', 'States.Timeout']);
    await expect(
      sfn.send(new SendTaskSuccessCommand({ taskToken: 'nonsense', output: '{}' })),
    ).rejects.toMatchObject({ name: 'InvalidToken' });
  });

  test('tells a late answer that the task timed out, and a failed one to the Catch', async () => {
    const { sfn, start, token, describe: look, executions } = await setUp({ echo });
    await start('late', input);
    const taskToken = await token();
    await executions.idle();
    expect(JSON.parse((await look('late')).output ?? '')).toMatchObject({
      answer: { Error: 'States.Timeout' },
    });
    await expect(sfn.send(new SendTaskSuccessCommand({ taskToken, output: '{}' }))).rejects.toMatchObject({
      name: 'TaskTimedOut',
    });
    await expect(sfn.send(new SendTaskFailureCommand({ taskToken }))).rejects.toMatchObject({
      name: 'TaskTimedOut',
    });
  });

  test('starts a name once: the same while it runs, refused when it ended or the input differs', async () => {
    const { start, token, executions } = await setUp({ echo });
    const first = await start('once', input);
    await token();
    expect((await start('once', input)).executionArn).toBe(first.executionArn);
    await expect(start('once', { ...input, payload: 2 })).rejects.toMatchObject({
      name: 'ExecutionAlreadyExists',
    });
    await executions.idle();
    await expect(start('once', input)).rejects.toMatchObject({ name: 'ExecutionAlreadyExists' });
  });

  test('stops an execution and tells; another process finds what ran as aborted', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'walkback-sfn-'));
    cleanup.push(() => rm(directory, { recursive: true, force: true }));
    const journal = join(directory, 'executions.jsonl');
    // Half a line, as a disk that was full leaves it.
    await writeFile(journal, '{"executionArn":"ha');
    const one = await setUp({ echo }, { journalFile: journal });
    await one.start('stopped', input);
    await one.start('running', input);
    await one.token();
    await one.sfn.send(new StopExecutionCommand({ executionArn: one.arn('stopped') }));
    expect(one.ended.map(({ name, status }) => [name, status])).toEqual([['stopped', 'ABORTED']]);
    await one.executions.close();
    const two = await setUp({ echo }, { journalFile: journal });
    expect((await two.describe('stopped')).status).toBe('ABORTED');
    expect((await two.describe('running')).status).toBe('ABORTED');
    await expect(two.describe('unknown')).rejects.toMatchObject({ name: 'ExecutionDoesNotExist' });
  });
});

describe('what the service refuses', () => {
  const KIB = 1024;
  const MAX_DATA = 256 * KIB;
  const text = (bytes: number) => 'x'.repeat(bytes);
  const dataLimit = (state: string, what: string) => ({
    error: 'States.DataLimitExceeded',
    cause: `The state/task '${state}' ${what} with a size exceeding the maximum number of bytes service limit.`,
  });

  const limits = async () => {
    const called: string[] = [];
    const note = (name: string, answer: unknown) => async () => {
      called.push(name);
      return { payload: answer, functionError: false };
    };
    const {
      executions,
      start,
      describe: look,
      ...rest
    } = await setUp(
      { echo, small: note('small', {}), again: note('again', {}), large: note('large', text(MAX_DATA)) },
      { definition: LIMITS },
    );
    const run = async (name: string, given: object) => {
      await start(name, given);
      await executions.idle();
      const { status, output, error, cause } = await look(name);
      return { status, error, cause, output: JSON.parse(output ?? 'null') as unknown };
    };
    return { ...rest, called, run, start };
  };

  test('a result over 256 KiB fails its task, and a Catch may take it', async () => {
    const { run, called } = await limits();
    const seen = await run('result', { fn: 'large', payload: 1 });
    const { error, cause } = dataLimit('Call', 'returned a result');
    expect(seen).toMatchObject({
      status: 'SUCCEEDED',
      output: { outcome: { Error: error, Cause: cause } },
    });
    expect(called).toEqual(['large']);
  });

  test('a state’s output over it ends the execution whatever the next state catches, and calls nothing more', async () => {
    const { run, called } = await limits();
    const seen = await run('output', { fn: 'echo', payload: text(150 * KIB) });
    expect(seen).toMatchObject({ status: 'FAILED', ...dataLimit('Call', 'returned a result') });
    expect(called).toEqual([]);
  });

  test('parameters over it end the execution too', async () => {
    const { run, called } = await limits();
    const seen = await run('parameters', { fn: 'small', payload: text(150 * KIB) });
    expect(seen).toMatchObject({ status: 'FAILED', ...dataLimit('Again', 'provided parameters') });
    expect(called).toEqual(['small']);
  });

  test('an input over it, a name over 80 characters or with others than AWS takes', async () => {
    const { sfn, start, arn } = await limits();
    const padded = (bytes: number) => ({ fn: 'small', payload: text(bytes - 27) });
    expect(JSON.stringify(padded(MAX_DATA))).toHaveLength(MAX_DATA);
    await expect(start('full', padded(MAX_DATA))).resolves.toMatchObject({ executionArn: arn('full') });
    await expect(start('over', padded(MAX_DATA + 1))).rejects.toMatchObject({ name: 'ValidationException' });
    await start('n'.repeat(80), { fn: 'small' });
    await expect(start('n'.repeat(81), { fn: 'small' })).rejects.toMatchObject({
      name: 'ValidationException',
    });
    for (const name of ['a b', 'a:b', 'a/b', 'a\u0001']) {
      await expect(start(name, { fn: 'small' }), name).rejects.toMatchObject({ name: 'InvalidName' });
    }
    const answer = { taskToken: 'walkback-task-token-x', output: JSON.stringify(text(MAX_DATA)) };
    await expect(sfn.send(new SendTaskSuccessCommand(answer))).rejects.toMatchObject({
      name: 'ValidationException',
    });
  });

  test('event 25,000 of a history: it is the failure, whatever goes on', async () => {
    const { run, sfn, arn } = await limits();
    const failure = {
      error: 'States.Runtime',
      cause: 'The execution reached the maximum number of history events (25000).',
    };
    expect(await run('loop', { fn: 'loop' })).toMatchObject({ status: 'FAILED', ...failure });
    const last = await sfn.send(
      new GetExecutionHistoryCommand({ executionArn: arn('loop'), reverseOrder: true, maxResults: 2 }),
    );
    expect(last.events).toMatchObject([
      { id: 25_000, type: 'ExecutionFailed', executionFailedEventDetails: failure },
      { id: 24_999, type: 'ChoiceStateExited' },
    ]);
  });

  test('a history has the events the service counts: five for a task', async () => {
    const { run, sfn, arn } = await limits();
    await run('counted', { fn: 'small', payload: 1 });
    const { events } = await sfn.send(new GetExecutionHistoryCommand({ executionArn: arn('counted') }));
    const task = ['TaskStateEntered', 'TaskScheduled', 'TaskStarted', 'TaskSucceeded', 'TaskStateExited'];
    expect(events?.map(({ type }) => type)).toEqual([
      'ExecutionStarted',
      'ChoiceStateEntered',
      'ChoiceStateExited',
      ...task,
      ...task,
      'SucceedStateEntered',
      'SucceedStateExited',
      'ExecutionSucceeded',
    ]);
  });
});

/** Spans as the X-Ray daemon gets them: forward work and what takes it back are told apart, for tools of both kinds. */
import { execFile } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { PROJECT } from '../../local/template.ts';

interface Span {
  name: string;
  trace_id?: string;
  annotations?: Record<string, unknown>;
}

/** What the X-Ray SDK follows with hooks on every promise of a process, which makes all of it slower. */
const followedIn = async (before: string): Promise<string[]> => {
  const script = `${before}
    await import(${JSON.stringify(join(PROJECT, 'functions/timeline.ts'))});
    console.log(JSON.stringify(Object.keys(process.namespaces ?? {})));`;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script], {
    env: { PATH: process.env['PATH'] },
  });
  return JSON.parse(stdout) as string[];
};

test('where nothing is traced, no promise is followed', async () => {
  const cloud = JSON.stringify(join(PROJECT, 'local/lambda/environment.ts'));
  const lambda = "process.env['AWS_LAMBDA_FUNCTION_NAME'] = 'f';";
  expect(await followedIn(lambda)).toEqual(['AWSXRay']);
  expect(await followedIn('')).toEqual([]);
  expect(await followedIn(`${lambda} (await import(${cloud})).installEnvironment({});`)).toEqual([]);
});

const TRACE = '1-5759e988-bd862e3fe1be46a994272793';

/** The daemon's side: one datagram per span, a header line before it. */
const openDaemon = async () => {
  const spans: Span[] = [];
  const socket = createSocket('udp4', (message) => {
    const [, body = '{}'] = message.toString().split('\n');
    spans.push(JSON.parse(body) as Span);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  return {
    spans,
    address: `127.0.0.1:${socket.address().port}`,
    [Symbol.asyncDispose]: async () => {
      socket.close();
      await once(socket, 'close');
    },
  };
};

/** Calls a function in a process that looks like Lambda's, and answers the outcomes. */
const callInLambda = async (entry: string, events: object[], env: Record<string, string>) => {
  const script = `
    const { handler } = await import(${JSON.stringify(join(PROJECT, entry))});
    const context = { getRemainingTimeInMillis: () => 60000, awsRequestId: 'r', functionName: 'f' };
    const outcomes = [];
    for (const event of ${JSON.stringify(events)}) outcomes.push((await handler(event, context)).outcome);
    console.log(JSON.stringify(outcomes));`;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script], {
    env: {
      PATH: process.env['PATH'],
      POWERTOOLS_LOG_LEVEL: 'SILENT',
      POWERTOOLS_METRICS_DISABLED: 'true',
      ...env,
    },
  });
  return JSON.parse(stdout.trim().split('\n').at(-1) ?? '[]') as string[];
};

const lambda = (address: string): Record<string, string> => ({
  AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs24.x',
  AWS_LAMBDA_FUNCTION_NAME: 'traced',
  LAMBDA_TASK_ROOT: PROJECT,
  AWS_XRAY_DAEMON_ADDRESS: address,
  _X_AMZN_TRACE_ID: `Root=${TRACE};Parent=53995c3f42cd8ad8;Sampled=1`,
});

const request = (operation: string, amount = 5) => ({
  operation,
  tool: 'pay',
  version: '1',
  sagaId: 'saga-1',
  step: 'payment',
  attempt: 2,
  idempotencyKey: `saga-1:${amount}`,
  forwardKey: `saga-1:${amount}`,
  deadlineMs: Date.now() + 30_000,
  arguments: { amount },
});

const annotated = (spans: Span[], name: string) =>
  spans.filter((span) => span.name === name).map(({ annotations }) => annotations);

test('a tool made with the kit says of each call what it was for, and nothing of its arguments', async () => {
  await using daemon = await openDaemon();
  const events = [request('execute'), request('probe'), request('execute', 424242), request('compensate')];
  const outcomes = await callInLambda(
    'test/support/functions/traced-tool.ts',
    events,
    lambda(daemon.address),
  );
  expect(outcomes).toEqual(['committed', 'absent', 'rejected', 'committed']);
  await expect.poll(() => daemon.spans.length).toBe(4);
  const common = { sagaId: 'saga-1', step: 'payment', attempt: 2, tool: 'pay' };
  expect(annotated(daemon.spans, '## pay')).toEqual([
    { ...common, direction: 'forward', outcome: 'committed' },
    { ...common, direction: 'probe', outcome: 'absent' },
    { ...common, direction: 'forward', outcome: 'rejected' },
    { ...common, direction: 'compensation', outcome: 'committed' },
  ]);
  expect(daemon.spans.map(({ trace_id }) => trace_id)).toEqual(Array(4).fill(TRACE));
  expect(JSON.stringify(daemon.spans)).not.toContain('424242');
});

test('a tool behind an HTTP endpoint says the same', async () => {
  await using daemon = await openDaemon();
  const nowhere = 'http://127.0.0.1:1';
  const events = [request('execute'), request('compensate')].map((event) => ({
    ...event,
    endpoint: nowhere,
  }));
  await callInLambda('functions/http-tool.ts', events, {
    ...lambda(daemon.address),
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: 'LKIATEST',
    AWS_SECRET_ACCESS_KEY: 'not a secret',
    AWS_ENDPOINT_URL: nowhere,
    WALKBACK_SAGAS_TABLE: 'sagas',
    WALKBACK_HTTP_TOOL_SECRET_ARN: 'secret',
  });
  await expect.poll(() => annotated(daemon.spans, '## http-tool').length).toBe(2);
  const common = { sagaId: 'saga-1', step: 'payment', attempt: 2, tool: 'pay', outcome: 'rejected' };
  expect(annotated(daemon.spans, '## http-tool')).toMatchObject([
    { ...common, direction: 'forward' },
    { ...common, direction: 'compensation' },
  ]);
});

test('nothing is traced where Lambda does not trace, or where it is turned off', async () => {
  await using daemon = await openDaemon();
  const off = { ...lambda(daemon.address), POWERTOOLS_TRACE_ENABLED: 'false' };
  const elsewhere = { AWS_XRAY_DAEMON_ADDRESS: daemon.address };
  for (const env of [off, elsewhere]) {
    expect(await callInLambda('test/support/functions/traced-tool.ts', [request('execute')], env)).toEqual([
      'committed',
    ]);
  }
  // One that is traced, sent after them, is the first to arrive.
  await callInLambda('test/support/functions/traced-tool.ts', [request('probe')], lambda(daemon.address));
  await expect.poll(() => daemon.spans.length).toBe(1);
  expect(annotated(daemon.spans, '## pay')).toMatchObject([{ direction: 'probe' }]);
});

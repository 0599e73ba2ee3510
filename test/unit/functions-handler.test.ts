/** What every function has around it: input, errors as a caller sees them, and what it needs from outside. */
import type { Context } from 'aws-lambda';
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import * as z from 'zod';
import { WalkbackError } from '../../core/shared/errors.ts';
import { createParsingHandler } from '../../functions/handler.ts';
import { createRuntime } from '../../functions/runtime.ts';
import { e2bSandboxes } from '../../functions/sandbox-runtime.ts';
import { sessionStore } from '../../functions/session-runtime.ts';

const context = {
  functionName: 'walkback-test',
  functionVersion: '1',
  invokedFunctionArn: 'arn',
  memoryLimitInMB: '1024',
  awsRequestId: 'request-1',
  getRemainingTimeInMillis: () => 5000,
} as Context;

const log = { info: () => undefined, warn: () => undefined };
const schema = z.strictObject({ name: z.string() });

beforeEach(() => {
  vi.stubEnv('POWERTOOLS_LOG_LEVEL', 'SILENT');
  vi.stubEnv('POWERTOOLS_METRICS_DISABLED', 'true');
});
afterEach(() => vi.unstubAllEnvs());

const thrownBy = async (work: Promise<unknown>): Promise<Error> => {
  const error: unknown = await work.then(
    () => new Error('nothing was thrown'),
    (thrown: unknown) => thrown,
  );
  if (error instanceof Error) return error;
  throw new Error('not an error');
};

describe('a handler', () => {
  test('parses, calls the use case with its deadline, and answers', async () => {
    const before = Date.now();
    const handler = createParsingHandler('test', schema, async () => async ({ name }, { deadlineMs }) => ({
      hello: name,
      deadlineMs,
    }));
    const answer = await handler({ name: 'world' }, context);
    expect(answer.hello).toBe('world');
    expect(answer.deadlineMs).toBeGreaterThanOrEqual(before + 5000);
  });

  test('refuses bad input before anything is wired', async () => {
    let wired = 0;
    const handler = createParsingHandler('test', schema, async () => {
      wired++;
      return async () => 'never';
    });
    const error = await thrownBy(handler({ name: 1, other: 2 }, context));
    expect(error.name).toBe('InvalidInput');
    expect(error.message).toMatch(/name:.*unknown field "other"/);
    expect(wired).toBe(0);
  });

  test('lets an error out with its literal name, its message, and no stack', async () => {
    const handler = createParsingHandler('test', schema, async () => async () => {
      throw new WalkbackError('StaleEpoch', 'Epoch 1 is over.', { cause: new Error('secret') });
    });
    const error = await thrownBy(handler({ name: 'x' }, context));
    expect({ name: error.name, message: error.message, stack: error.stack, cause: error.cause }).toEqual({
      name: 'StaleEpoch',
      message: 'Epoch 1 is over.',
      stack: 'StaleEpoch: Epoch 1 is over.',
      cause: undefined,
    });
  });

  test.each([
    new TypeError('x is not a function at /secret/path'),
    new WalkbackError('InternalError', 'S3 refused the call (secret)'),
  ])('hides what only we can understand: %s', async (thrown) => {
    const handler = createParsingHandler('test', schema, async () => async () => {
      throw thrown;
    });
    const error = await thrownBy(handler({ name: 'x' }, context));
    expect(error.name).toBe('InternalError');
    expect(error.message).toContain('request-1');
    expect(`${error.message}${error.stack}`).not.toContain('secret');
  });

  test('wires once, and again when wiring failed', async () => {
    let wired = 0;
    const handler = createParsingHandler('test', schema, async () => {
      wired++;
      if (wired === 1) throw new WalkbackError('ConfigurationError', 'not yet');
      return async () => wired;
    });
    expect((await thrownBy(handler({ name: 'x' }, context))).name).toBe('ConfigurationError');
    expect(await handler({ name: 'x' }, context)).toBe(2);
    expect(await handler({ name: 'x' }, context)).toBe(2);
  });
});

describe('metrics', () => {
  /** The embedded metric format, as the function wrote it. */
  const FORMAT = '_aws';
  interface Written {
    [FORMAT]?: { Timestamp: number; CloudWatchMetrics: { Namespace: string; Dimensions: string[][] }[] };
    [name: string]: unknown;
  }

  const writtenBy = async (work: () => Promise<unknown>): Promise<Written[]> => {
    vi.stubEnv('POWERTOOLS_METRICS_DISABLED', 'false');
    vi.stubEnv('POWERTOOLS_METRICS_NAMESPACE', 'second');
    // Written where a test sees it.
    vi.stubEnv('POWERTOOLS_DEV', 'true');
    const spy = vi.spyOn(console, 'log').mockReturnValue();
    await work();
    const lines = spy.mock.calls.map(([line]) => JSON.parse(String(line)) as Written);
    spy.mockRestore();
    return lines;
  };

  test('have the name, namespace and dimensions that the alarms look at', async () => {
    const [written] = await writtenBy(() =>
      createParsingHandler(
        'test',
        schema,
        async ({ telemetry }) =>
          async () =>
            telemetry.measure('Open', 3),
      )({ name: 'x' }, { ...context, functionName: 'second-test' }),
    ).then((lines) => lines.filter((line) => 'Open' in line));
    expect(written).toMatchObject({ service: 'walkback', function: 'test', Open: 3 });
    expect(written?.[FORMAT]?.CloudWatchMetrics).toMatchObject([
      { Namespace: 'second', Dimensions: [['service', 'function']] },
    ]);
  });

  test('are dated at the start, as Lambda dates the error that a refusal is taken away from', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: new Date('2026-01-01T00:00:30Z') });
    onTestFinished(() => void vi.useRealTimers());
    const lines = await writtenBy(() =>
      thrownBy(
        createParsingHandler('test', schema, async () => async () => {
          vi.setSystemTime(new Date('2026-01-01T00:14:00Z'));
          throw new WalkbackError('StaleEpoch', 'Epoch 1 is over.');
        })({ name: 'x' }, context),
      ),
    );
    const refused = lines.find((line) => 'Refused' in line);
    expect(new Date(refused?.[FORMAT]?.Timestamp ?? 0).toISOString()).toBe('2026-01-01T00:00:30.000Z');
  });
});

describe('the environment', () => {
  test('a missing name is named', async () => {
    const runtime = createRuntime({ WALKBACK_SESSIONS_TABLE: ' ' }, log);
    expect(() => sessionStore(runtime)).toThrow(/WALKBACK_SESSIONS_TABLE/);
    await expect(e2bSandboxes(runtime)).rejects.toMatchObject({
      name: 'ConfigurationError',
      message: expect.stringContaining('E2B_API_KEY_SECRET_ARN'),
    });
  });

  test('what a function does not use is not asked for', async () => {
    const runtime = createRuntime({ WALKBACK_SESSIONS_TABLE: 'sessions', E2B_API_KEY: 'e2b_key' }, log);
    expect(sessionStore(runtime)).toBeDefined();
    expect(await e2bSandboxes(runtime)).toBeDefined();
    expect(runtime.random()).toMatch(/^[0-9a-f]{32}$/);
  });
});

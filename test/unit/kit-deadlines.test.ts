/** Calls of tools, and their tombstones, at and after the deadline. */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { describe, expect, test, vi } from 'vitest';
import { WalkbackError } from '../../core/shared/errors.ts';
import { memoryTombstones } from '../../kit/conformance.ts';
import { toolHandler } from '../../kit/handler.ts';
import { mayOutlast } from '../../kit/watch-instance.ts';
import { type Definition, make } from '../support/kit-tool.ts';
import { cutShort, requestOf } from '../support/tool-requests.ts';

const run = promisify(execFile);

test('a call that is under way while its machine sleeps over its deadline stops when that wakes, whatever the timers say', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  try {
    let now = 1000;
    const execute: Definition['execute'] = (_, { signal }) => {
      now += 3_600_000;
      return new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(new Error('aborted')));
      });
    };
    const handle = toolHandler([make({ execute })], { tombstones: memoryTombstones(), now: () => now });
    const outcome = handle(requestOf({ deadlineMs: 31_000 }));
    // Less than the margin after which the call counts as over (S3).
    await vi.advanceTimersByTimeAsync(2_000);
    expect(await Promise.race([outcome, Promise.resolve('still at work')])).toMatchObject({
      outcome: 'unknown',
      error: { name: 'DeadlinePassed' },
    });
  } finally {
    vi.useRealTimers();
  }
});
describe('a call that does not stop at its deadline (S3)', () => {
  const seen = async (execute: Definition['execute']) => {
    let ended = 0;
    const endInstance = () => {
      ended += 1;
    };
    const handle = toolHandler([make({ execute })], { tombstones: memoryTombstones(), endInstance });
    const outcome = await cutShort((deadlineMs) => handle(requestOf({ deadlineMs })));
    return { ended, outcome };
  };

  test('ends what it runs in, once', async () => {
    const { ended, outcome } = await seen(() => new Promise<never>(() => undefined));
    expect(ended).toBe(1);
    expect(outcome).toMatchObject({ outcome: 'unknown', error: { name: 'DeadlinePassed' } });
  });

  test('not when it stops as its signal aborts', async () => {
    const { ended, outcome } = await seen(
      (_, one) =>
        new Promise((_resolve, reject) => {
          one.signal.addEventListener('abort', () => reject(new Error('aborted')));
        }),
    );
    expect(ended).toBe(0);
    expect(outcome).toMatchObject({ outcome: 'unknown', error: { name: 'DeadlinePassed' } });
  });

  test('what it still finds out counts', async () => {
    const { outcome } = await seen(
      (_, one) =>
        new Promise((resolve) => {
          one.signal.addEventListener('abort', () => resolve({ id: 'x2' }));
        }),
    );
    expect(outcome).toMatchObject({ outcome: 'committed', externalRef: 'x2' });
  });

  const onLambda = async (...how: string[]) => {
    const env = { ...process.env, AWS_LAMBDA_RUNTIME_API: '127.0.0.1:9001' };
    const script = join(import.meta.dirname, '../support/functions/overrunning-tool.ts');
    return run(process.execPath, [script, ...how], { env }).then(
      ({ stdout, stderr }) => ({ ended: 'by itself' as const, stdout, stderr }),
      (error: { code: number | null; signal: string | null; stdout: string; stderr: string }) => ({
        ended: error.code ?? error.signal,
        stdout: error.stdout,
        stderr: error.stderr,
      }),
    );
  };

  test('on Lambda that is the process: nothing acts after the deadline, and no answer is given', async () => {
    expect(await onLambda()).toMatchObject({ ended: 1, stdout: 'begins\n' });
  });

  test('also while its code blocks the process, when the function has more time than the call', async () => {
    expect(await onLambda('blocks')).toMatchObject({
      ended: 'SIGKILL',
      stdout: 'begins\n',
      stderr: expect.stringContaining('blocked the process until after its deadline'),
    });
  });

  test('not when the call has ended, and the function was frozen before the thread that watches it knew', async () => {
    const script = join(import.meta.dirname, '../support/functions/frozen-tool.ts');
    const env = { ...process.env, AWS_LAMBDA_RUNTIME_API: '127.0.0.1:9001' };
    const child = spawn(process.execPath, [script], { env, stdio: ['ignore', 'pipe', 'inherit'] });
    const over = once(child, 'exit');
    let stdout = '';
    for await (const chunk of child.stdout) {
      stdout += String(chunk);
      if (stdout !== 'ended\n') continue;
      // Until a call would be ended.
      await delay(3_000);
      child.kill('SIGCONT');
    }
    const [code, signal] = await over;
    expect({ stdout, code, signal }).toEqual({ stdout: 'ended\nlives\n', code: 0, signal: null });
  });

  test.each([
    ['in the middle of the margin', 34_900, false],
    ['at its end', 35_000, true],
    ['after it, for the sake of the compensator', 600_000, true],
  ])('a function that ends %s, 30 s before the deadline', (_, leftMs, outlasts) => {
    expect(mayOutlast(130_000, 100_000, { getRemainingTimeInMillis: () => leftMs })).toBe(outlasts);
  });

  test('a function that does not say how long it has is watched', () => {
    expect(mayOutlast(130_000, 100_000)).toBe(true);
  });
});

describe('a table of tombstones that answers after the deadline (S3)', () => {
  /** The clock goes on while the table is asked. */
  const handledBy = (slow: 'bury' | 'isBuried' | 'claim') => {
    let now = 1000;
    const table = memoryTombstones();
    const acted: string[] = [];
    const asked =
      <Answer>(name: string, ask: (key: string) => Promise<Answer>) =>
      (key: string): Promise<Answer> => {
        if (name === slow) now += 60_000;
        return ask(key);
      };
    const tool = make({
      execute: async () => ({ id: String(acted.push('execute')) }),
      compensate: { name: 'undo_act', execute: async () => void acted.push('compensate') },
    });
    const tombstones = {
      bury: asked('bury', (key) => table.bury(key)),
      isBuried: asked('isBuried', (key) => table.isBuried(key)),
      claim: asked('claim', async () => true),
    };
    return { acted, table, handle: toolHandler([tool], { tombstones, now: () => now }) };
  };
  const late = { outcome: 'rejected', reached: false, retryable: true, error: { name: 'DeadlinePassed' } };

  test.each(['isBuried', 'claim'] as const)('%s: the call does not begin', async (slow) => {
    const { acted, handle } = handledBy(slow);
    expect(await handle(requestOf({ deadlineMs: 31_000 }))).toMatchObject(late);
    expect(acted).toEqual([]);
  });

  test('bury: the compensator does not begin, and the tombstone stands', async () => {
    const { acted, table, handle } = handledBy('bury');
    expect(await handle(requestOf({ operation: 'compensate', deadlineMs: 31_000 }))).toMatchObject(late);
    expect([acted, await table.isBuried('s:0')]).toEqual([[], true]);
  });
});

describe('a table of tombstones that cannot be reached', () => {
  const away = () =>
    Promise.reject(new WalkbackError('StorageUnavailable', 'DynamoDB is away', { retryable: true }));
  const notAsked = async () => expect.unreachable('the tool was asked');
  const unreached = {
    outcome: 'rejected',
    retryable: true,
    reached: false,
    error: { name: 'StorageUnavailable' },
  };

  test('is a clean refusal that uses up no attempt: the tool was not asked', async () => {
    const handle = toolHandler([make({ execute: notAsked, idempotencyWindowSeconds: 3600 })], {
      tombstones: { bury: away, isBuried: away },
    });
    expect(await handle(requestOf())).toMatchObject(unreached);
    expect(await handle(requestOf({ operation: 'compensate' }))).toMatchObject(unreached);
  });

  test('leaves the outcome open where another delivery of the attempt may act', async () => {
    const handle = toolHandler([make({ execute: notAsked })], {
      tombstones: { bury: away, isBuried: async () => false, claim: away },
    });
    expect(await handle(requestOf())).toMatchObject({ outcome: 'unknown' });
  });
});

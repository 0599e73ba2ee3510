import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { describe, expect, test, vi } from 'vitest';
import * as z from 'zod';
import { parseTool } from '../../core/saga/plan/catalog.ts';
import { WalkbackError } from '../../core/shared/errors.ts';
import { memoryTombstones, ToolUnsafe, testToolIsSafe } from '../../kit/conformance.ts';
import { defineTool, type ToolDefinition } from '../../kit/define-tool.ts';
import { toolHandler } from '../../kit/handler.ts';
import { manifestOf } from '../../kit/manifest.ts';
import { ToolRejected, ToolUncertain } from '../../kit/outcomes.ts';
import { mayOutlast } from '../../kit/watch-instance.ts';
import { cutShort, requestOf } from '../support/tool-requests.ts';

const run = promisify(execFile);

const input = z.strictObject({ n: z.int() });
const output = z.object({ id: z.string() });
type Definition = ToolDefinition<typeof input, typeof output>;
const FACTS = {
  name: 'act',
  version: '1',
  description: 'acts',
  input,
  output,
  execute: async () => ({ id: 'x1' }),
};
const compensate = { name: 'undo_act', execute: async () => undefined };

const make = (more: Partial<Definition> = {}) =>
  defineTool({
    ...FACTS,
    effect: 'compensatable',
    externalRef: ({ id }) => id,
    compensate,
    ...more,
  } as Definition);

const call = (more: Partial<Definition>, event: unknown = requestOf()) =>
  toolHandler([make(more)], { tombstones: memoryTombstones() })(event);

describe('what a tool does becomes one of three outcomes (S2)', () => {
  test('an answer is committed, with its reference', async () => {
    expect(await call({})).toEqual({ outcome: 'committed', result: { id: 'x1' }, externalRef: 'x1' });
  });

  test.each([
    [
      'says nothing happened',
      new ToolRejected('Nope', 'no', { retryable: true }),
      { outcome: 'rejected', retryable: true, error: { name: 'Nope', message: 'no' } },
    ],
    [
      'is not sure',
      new ToolUncertain('Maybe', 'hm', { answered: true }),
      { outcome: 'unknown', answered: true },
    ],
    [
      'throws anything else',
      new TypeError('fetch failed'),
      { outcome: 'unknown', answered: false, error: { name: 'TypeError' } },
    ],
    ['throws what is no error', 'text', { outcome: 'unknown' }],
  ])('a tool that %s', async (_, thrown, expected) => {
    const execute = async () => {
      throw thrown;
    };
    expect(await call({ execute })).toMatchObject(expected);
  });

  test('a result that is too large took effect all the same', async () => {
    const large = { id: 'x'.repeat(40_000) };
    expect(await call({ execute: async () => large, externalRef: () => 'r' })).toMatchObject({
      outcome: 'committed',
      externalRef: 'r',
      error: { name: 'ResultTooLarge' },
    });
  });

  test('a result of another shape took effect all the same', async () => {
    const wrong = { id: 7 } as unknown as { id: string };
    expect(await call({ execute: async () => wrong })).toMatchObject({
      outcome: 'committed',
      error: { name: 'InvalidResult' },
    });
  });

  test('a tool that is still at work at its deadline has an unknown outcome', async () => {
    const execute = () => new Promise<never>(() => undefined);
    expect(await cutShort((deadlineMs) => call({ execute }, requestOf({ deadlineMs })))).toMatchObject({
      outcome: 'unknown',
      error: { name: 'DeadlinePassed' },
    });
  });
});

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

describe('with onError the reason is told there and nowhere else', () => {
  const boom = async (): Promise<never> => {
    throw new RangeError('secret');
  };
  const failing = (): never => {
    throw new RangeError('secret');
  };
  const compensate = requestOf({ operation: 'compensate' });
  test.each([
    ['a tool', { execute: boom }, requestOf(), { outcome: 'unknown', error: { name: 'RangeError' } }],
    [
      'a compensator',
      { compensate: { name: 'undo_act', execute: boom } },
      compensate,
      { outcome: 'unknown' },
    ],
    ['a reference', { externalRef: failing }, requestOf(), { error: { name: 'InvalidResult' } }],
  ] as const)('of %s', async (_, more, request, expected) => {
    const told: unknown[] = [];
    const onError = (thrown: unknown) => {
      told.push(thrown);
      // What it throws itself changes no outcome.
      throw new Error('cannot be told');
    };
    const outcome = await toolHandler([make(more)], { tombstones: memoryTombstones(), onError })(request);
    expect(outcome).toMatchObject(expected);
    expect(JSON.stringify(outcome)).not.toContain('secret');
    expect(told).toEqual([new RangeError('secret')]);
  });

  test('of tombstones that cannot be reached', async () => {
    const told: unknown[] = [];
    const tombstones = { bury: boom, isBuried: boom };
    const onError = (thrown: unknown) => void told.push(thrown);
    const tool = make({ idempotencyWindowSeconds: 60 });
    const outcome = await toolHandler([tool], { tombstones, onError })(requestOf());
    expect(outcome).toMatchObject({ outcome: 'rejected', reached: false });
    expect(JSON.stringify(outcome)).not.toContain('secret');
    expect(told).toEqual([new RangeError('secret')]);
  });
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

describe('the edge refuses before anything acts', () => {
  const never = async () => expect.unreachable('it acted');
  test.each([
    ['what is no request', { hello: 1 }, 'InvalidArguments'],
    ['a member it does not know', { ...requestOf(), extra: 1 }, 'InvalidArguments'],
    ['arguments that do not match', requestOf({ arguments: { n: 'one' } }), 'InvalidArguments'],
    ['another tool', requestOf({ tool: 'other' }), 'ToolUnavailable'],
    ['another version', requestOf({ version: '2' }), 'ToolUnavailable'],
    ['a deadline that passed (S3)', requestOf({ deadlineMs: Date.now() - 1 }), 'DeadlinePassed'],
  ])('%s', async (_, event, name) => {
    expect(await call({ execute: never }, event)).toMatchObject({ outcome: 'rejected', error: { name } });
  });

  test('where the clock of the tool is ahead, whoever reads the refusal sees by how much', async () => {
    const handle = toolHandler([make({ execute: never })], {
      tombstones: memoryTombstones(),
      now: () => 330_500,
    });
    expect(await handle(requestOf({ deadlineMs: 30_000 }))).toMatchObject({
      outcome: 'rejected',
      reached: false,
      error: {
        name: 'DeadlinePassed',
        message: 'By the clock of the tool, the deadline had passed 301 s before the call came.',
      },
    });
  });

  test('a call that comes a little late says that the machine may be busy', async () => {
    const tombstones = memoryTombstones();
    const handle = toolHandler([make({ execute: never })], { tombstones, now: () => 31_500 });
    expect(await handle(requestOf({ deadlineMs: 30_000 }))).toMatchObject({
      outcome: 'rejected',
      reached: false,
      error: {
        name: 'DeadlinePassed',
        message:
          'The deadline had passed 2 s before the call came. The machine may be busy; else the clock of the tool is ahead.',
      },
    });
  });

  test('a forward call after its compensator (S4), and a fence inside the tool sees a deadline that came meanwhile', async () => {
    const tombstones = memoryTombstones();
    const handle = toolHandler([make({ execute: never })], { tombstones });
    await handle(requestOf({ operation: 'compensate', idempotencyKey: 's:0:undo' }));
    expect(await handle(requestOf())).toMatchObject({
      outcome: 'rejected',
      error: { name: 'Fenced' },
      retryable: false,
    });

    let now = 1000;
    const slow = make({
      execute: async (_, one) => {
        now += 60_000;
        await one.fence();
        return never();
      },
    });
    const late = toolHandler([slow], { tombstones: memoryTombstones(), now: () => now });
    expect(await late(requestOf({ deadlineMs: 31_000 }))).toMatchObject({
      outcome: 'rejected',
      error: { name: 'DeadlinePassed' },
    });
  });

  test('a compensator gets no result that does not match: it works by key', async () => {
    const undos: object[] = [];
    const compensate: Definition['compensate'] = {
      name: 'undo_act',
      execute: async (undo) => void undos.push(undo),
    };
    const undo = requestOf({ operation: 'compensate', idempotencyKey: 's:0:undo', externalRef: 'x1' });
    for (const result of [null, { id: 7 }, { id: 'x1' }]) {
      expect(await call({ compensate }, { ...undo, result })).toMatchObject({ outcome: 'committed' });
    }
    const blind = { arguments: { n: 1 }, externalRef: 'x1' };
    expect(undos).toEqual([blind, blind, { ...blind, result: { id: 'x1' } }]);
  });

  test('the tombstone stands even when the compensator fails', async () => {
    const tombstones = memoryTombstones();
    const failing = make({
      compensate: {
        name: 'undo_act',
        execute: async () => {
          throw new ToolRejected('Closed', 'no');
        },
      },
    });
    const handle = toolHandler([failing], { tombstones });
    await handle(requestOf({ operation: 'compensate' }));
    expect(await tombstones.isBuried('s:0')).toBe(true);
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

describe('declarations', () => {
  test('that contradict themselves do not load', () => {
    // What the catalog would refuse is known before anything is stored.
    const priced = { amount: 'result.n', currency: '"EUR"', amountDirection: 'out' } as const;
    expect(() => make({ effect: 'partial', ...priced })).toThrow('it is partial and has an amount');
    expect(() => defineTool({ ...FACTS, effect: 'read', ...priced })).toThrow('it is read and has an amount');
    expect(make(priced).definition).toMatchObject(priced);
  });

  // The compiler refuses each of them too, or this file does not compile.
  // biome-ignore format: the compiler's directive is about the next line only
  test.each<[string, () => unknown]>([
    // @ts-expect-error -- compensatable, without a compensator
    ['no compensator', () => defineTool({ ...FACTS, effect: 'compensatable' })],
    // @ts-expect-error -- partial, without a compensator
    ['no compensator', () => defineTool({ ...FACTS, effect: 'partial' })],
    // @ts-expect-error -- irreversible, with a compensator
    ['has a compensator', () => defineTool({ ...FACTS, effect: 'irreversible', compensate })],
    // @ts-expect-error -- read, with a compensator
    ['has a compensator', () => defineTool({ ...FACTS, effect: 'read', compensate })],
    // @ts-expect-error -- a resource for itself, and none that is named
    ['no resourceKey', () => defineTool({ ...FACTS, effect: 'read', exclusive: true })],
    // @ts-expect-error -- an amount without a currency
    ['one of amount and currency', () => defineTool({ ...FACTS, effect: 'irreversible', amount: 'result.n' })],
    // @ts-expect-error -- a currency without an amount
    ['one of amount and currency', () => defineTool({ ...FACTS, effect: 'irreversible', currency: '"EUR"' })],
    // @ts-expect-error -- an amount that goes nowhere
    ['no amountDirection', () => defineTool({ ...FACTS, effect: 'irreversible', amount: 'result.n', currency: '"EUR"' })],
    // @ts-expect-error -- a direction of no amount
    ['no amount; give it one', () => defineTool({ ...FACTS, effect: 'irreversible', amountDirection: 'in' })],
    // @ts-expect-error -- units of an amount that there is not
    ['no amount of its own', () => defineTool({ ...FACTS, effect: 'irreversible', minorUnits: true })],
  ])('that the compiler refuses are refused without types, too: %s', (problem, define) => {
    expect(define).toThrow(problem);
  });

  test('become a manifest that the catalog takes, with every schema in it', () => {
    const manifest = manifestOf(make({ probe: async () => ({ happened: 'unknown' }) }), 'fn');
    expect(parseTool(JSON.parse(JSON.stringify(manifest)))).toMatchObject({
      probe: true,
      compensation: { name: 'undo_act', timeoutSeconds: 30 },
    });
    expect(manifest.schemas.compensation).toMatchObject({
      properties: { arguments: { properties: { n: { type: 'integer' } } }, result: expect.anything() },
      required: ['arguments', 'forwardKey', 'idempotencyKey'],
    });
  });

  test('have their review date in it, and without one no member for it', () => {
    expect(manifestOf(make({ reviewBy: '2027-05-31' }), 'fn')).toEqual({
      ...manifestOf(make(), 'fn'),
      reviewBy: '2027-05-31',
    });
    expect(manifestOf(make(), 'fn')).not.toHaveProperty('reviewBy');
  });
});

describe('testToolIsSafe', () => {
  const world = () => {
    const acts: string[] = [];
    return { acts, observe: async () => acts };
  };

  test('finds a tool that acts twice', async () => {
    const { acts, observe } = world();
    const execute: Definition['execute'] = async () => {
      acts.push('act');
      return { id: `x${acts.length}` };
    };
    const compensate: Definition['compensate'] = { name: 'undo_act', execute: async () => void acts.pop() };
    const found = testToolIsSafe(make({ execute, compensate }), { arguments: { n: 1 }, observe });
    await expect(found).rejects.toBeInstanceOf(ToolUnsafe);
    await expect(found).rejects.toThrow('acts once when called twice with one key');
  });

  test('finds a compensator that is refused for what another delivery took back', async () => {
    const { acts, observe } = world();
    const execute: Definition['execute'] = async (_, { forwardKey }) => {
      if (!acts.includes(forwardKey)) acts.push(forwardKey);
      return { id: forwardKey };
    };
    const compensate: Definition['compensate'] = {
      name: 'undo_act',
      execute: async (_, { forwardKey }) => {
        if (!acts.includes(forwardKey)) return;
        await Promise.resolve();
        const at = acts.indexOf(forwardKey);
        if (at === -1) throw new ToolRejected('Gone', 'it is gone');
        acts.splice(at, 1);
      },
    };
    const found = testToolIsSafe(make({ execute, compensate }), { arguments: { n: 1 }, observe });
    await expect(found).rejects.toThrow('its compensator may be delivered twice at once');
  });

  /** A provider that knows no keys: what is posted is posted, and found by its note. */
  const keyless = (acts: string[]) => ({
    execute: (async (_, one) => {
      await Promise.resolve();
      acts.push(one.forwardKey);
      return { id: one.forwardKey };
    }) satisfies Definition['execute'],
    compensate: {
      name: 'undo_act',
      execute: async (_, one) => {
        for (let at = acts.indexOf(one.forwardKey); at !== -1; at = acts.indexOf(one.forwardKey)) {
          acts.splice(at, 1);
        }
      },
    } satisfies Definition['compensate'],
    probe: (async (_, one) =>
      acts.includes(one.forwardKey)
        ? { happened: true as const, result: { id: one.forwardKey } }
        : { happened: false as const }) satisfies Definition['probe'],
  });

  test('accepts a tool without keys that has a probe, as sagas do, and no tool that only says it has keys', async () => {
    const { acts, observe } = world();
    const safe = testToolIsSafe(make(keyless(acts)), { arguments: { n: 1 }, observe });
    expect(await safe).toContain('acts once when it is delivered twice at once');
    const other = world();
    const lying = make({ ...keyless(other.acts), idempotencyWindowSeconds: 60 });
    const found = testToolIsSafe(lying, { arguments: { n: 1 }, observe: other.observe });
    await expect(found).rejects.toThrow('acts once when it is delivered twice at once');
    await expect(found).rejects.toThrow(
      'acts once when called twice with one key: hand `call.idempotencyKey`',
    );
  });

  test('a call that is delivered twice at once to a provider without keys acts once, and the other knows nothing', async () => {
    const { acts } = world();
    const handle = toolHandler([make(keyless(acts))], { tombstones: memoryTombstones() });
    const outcomes = await Promise.all([handle(requestOf()), handle(requestOf())]);
    expect(outcomes.map(({ outcome }) => outcome).toSorted()).toEqual(['committed', 'unknown']);
    expect(acts).toHaveLength(1);
    // A clean refusal is followed by the next attempt, with the same key.
    const again = await handle({ ...requestOf(), attempt: 2 });
    expect(again.outcome).toBe('committed');
  });

  /** A tool that goes on after its deadline. */
  const unstoppable = (acts: string[]): Pick<Definition, 'execute' | 'compensate'> => ({
    execute: async (_, one) => {
      // However long this machine took for the first call, and so gives the one it cuts short.
      const leftMs = one.deadlineMs - Date.now();
      if (leftMs < 20_000) await new Promise<never>(() => undefined);
      if (!acts.includes(one.forwardKey)) acts.push(one.forwardKey);
      return { id: one.forwardKey };
    },
    compensate: {
      name: 'undo_act',
      execute: async (_, one) =>
        void acts.splice(0, acts.length, ...acts.filter((key) => key !== one.forwardKey)),
    },
  });

  test('finds a tool that goes on after its deadline', async () => {
    const { acts, observe } = world();
    await expect(testToolIsSafe(make(unstoppable(acts)), { arguments: { n: 1 }, observe })).rejects.toThrow(
      'stops when its signal aborts',
    );
  });

  test('finds it also when its call came too late to begin at first', async () => {
    const { acts, observe } = world();
    let stalls = false;
    const given = {
      /** As a machine that stands still for a moment before the call is looked at. */
      get n() {
        const untilMs = Date.now() + (stalls ? 400 : 0);
        stalls = false;
        while (Date.now() < untilMs);
        return 1;
      },
    };
    const look = async () => {
      // The last look before a call is cut short.
      stalls = acts.some((key) => key.endsWith(':7'));
      return observe();
    };
    await expect(
      testToolIsSafe(make(unstoppable(acts)), { arguments: given, observe: look }),
    ).rejects.toThrow('stops when its signal aborts');
  });

  test('finds a compensator that needs something to have happened', async () => {
    const { acts, observe } = world();
    const execute: Definition['execute'] = async (_, one) => {
      if (!acts.includes(one.forwardKey)) acts.push(one.forwardKey);
      return { id: one.forwardKey };
    };
    const compensate: Definition['compensate'] = {
      name: 'undo_act',
      execute: async (_, one) => {
        const at = acts.indexOf(one.forwardKey);
        if (at === -1) throw new Error('nothing there');
        acts.splice(at, 1);
      },
    };
    await expect(
      testToolIsSafe(make({ execute, compensate }), { arguments: { n: 1 }, observe }),
    ).rejects.toThrow('its compensator accepts that nothing happened');
  });
});

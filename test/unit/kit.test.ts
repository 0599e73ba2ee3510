/** What a tool does, and what the edge refuses before it does anything. */
import { describe, expect, test } from 'vitest';
import { parseTool } from '../../core/saga/plan/catalog.ts';
import { memoryTombstones } from '../../kit/conformance.ts';
import { defineTool } from '../../kit/define-tool.ts';
import { toolHandler } from '../../kit/handler.ts';
import { manifestOf } from '../../kit/manifest.ts';
import { ToolRejected, ToolUncertain } from '../../kit/outcomes.ts';
import { call, compensate, type Definition, FACTS, make } from '../support/kit-tool.ts';
import { cutShort, requestOf } from '../support/tool-requests.ts';

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

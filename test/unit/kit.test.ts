import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { parseTool } from '../../core/saga/catalog.ts';
import type { ToolRequest } from '../../core/saga/tool-protocol.ts';
import { memoryTombstones, ToolUnsafe, testToolIsSafe } from '../../kit/conformance.ts';
import { defineTool, type ToolDefinition } from '../../kit/define-tool.ts';
import { toolHandler } from '../../kit/handler.ts';
import { manifestOf } from '../../kit/manifest.ts';
import { ToolRejected, ToolUncertain } from '../../kit/outcomes.ts';

const input = z.strictObject({ n: z.int() });
const output = z.object({ id: z.string() });
type Definition = ToolDefinition<typeof input, typeof output>;

const make = (more: Partial<Definition> = {}) =>
  defineTool({
    name: 'act',
    version: '1',
    description: 'acts',
    input,
    output,
    effect: 'compensatable',
    externalRef: ({ id }) => id,
    execute: async () => ({ id: 'x1' }),
    compensate: { name: 'undo_act', execute: async () => undefined },
    ...more,
  });

const request = (more: Partial<ToolRequest> = {}): ToolRequest => ({
  operation: 'execute',
  tool: 'act',
  version: '1',
  sagaId: 's',
  step: 'a',
  attempt: 1,
  idempotencyKey: 's:0',
  forwardKey: 's:0',
  deadlineMs: Date.now() + 5000,
  arguments: { n: 1 },
  ...more,
});

const call = (more: Partial<Definition>, event: unknown = request()) =>
  toolHandler([make(more)], { tombstones: memoryTombstones() })(event);

describe('what a tool does becomes one of three outcomes (S2)', () => {
  it('an answer is committed, with its reference', async () => {
    expect(await call({})).toEqual({ outcome: 'committed', result: { id: 'x1' }, externalRef: 'x1' });
  });

  it.each([
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

  it('a result that is too large took effect all the same', async () => {
    const large = { id: 'x'.repeat(40_000) };
    expect(await call({ execute: async () => large, externalRef: () => 'r' })).toMatchObject({
      outcome: 'committed',
      externalRef: 'r',
      error: { name: 'ResultTooLarge' },
    });
  });

  it('a result of another shape took effect all the same', async () => {
    const wrong = { id: 7 } as unknown as { id: string };
    expect(await call({ execute: async () => wrong })).toMatchObject({
      outcome: 'committed',
      error: { name: 'InvalidResult' },
    });
  });

  it('a tool that is still at work at its deadline has an unknown outcome', async () => {
    const execute = () => new Promise<never>(() => undefined);
    expect(await call({ execute }, request({ deadlineMs: Date.now() + 150 }))).toMatchObject({
      outcome: 'unknown',
      error: { name: 'DeadlinePassed' },
    });
  });
});

describe('the edge refuses before anything acts', () => {
  const never = async () => expect.unreachable('it acted');
  it.each([
    ['what is no request', { hello: 1 }, 'InvalidArguments'],
    ['a member it does not know', { ...request(), extra: 1 }, 'InvalidArguments'],
    ['arguments that do not match', request({ arguments: { n: 'one' } }), 'InvalidArguments'],
    ['another tool', request({ tool: 'other' }), 'ToolUnavailable'],
    ['another version', request({ version: '2' }), 'ToolUnavailable'],
    ['a deadline that passed (S3)', request({ deadlineMs: Date.now() - 1 }), 'DeadlinePassed'],
  ])('%s', async (_, event, name) => {
    expect(await call({ execute: never }, event)).toMatchObject({ outcome: 'rejected', error: { name } });
  });

  it('a forward call after its compensator (S4), and a fence inside the tool sees a deadline that came meanwhile', async () => {
    const tombstones = memoryTombstones();
    const handle = toolHandler([make({ execute: never })], { tombstones });
    await handle(request({ operation: 'compensate', idempotencyKey: 's:0:undo' }));
    expect(await handle(request())).toMatchObject({
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
    expect(await late(request({ deadlineMs: 31_000 }))).toMatchObject({
      outcome: 'rejected',
      error: { name: 'DeadlinePassed' },
    });
  });

  it('the tombstone stands even when the compensator fails', async () => {
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
    await handle(request({ operation: 'compensate' }));
    expect(await tombstones.isBuried('s:0')).toBe(true);
  });
});

describe('declarations', () => {
  it('that contradict themselves do not load', () => {
    expect(() => make({ compensate: undefined })).toThrow('has no compensator');
    expect(() => make({ effect: 'irreversible' })).toThrow('has a compensator');
  });

  it('become a manifest that the catalog takes, with every schema in it', () => {
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
});

describe('testToolIsSafe', () => {
  const world = () => {
    const acts: string[] = [];
    return { acts, observe: async () => acts };
  };

  it('finds a tool that acts twice', async () => {
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

  it('finds a compensator that needs something to have happened', async () => {
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

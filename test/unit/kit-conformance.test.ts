/** What `testToolIsSafe` finds, and what it accepts. */
import { describe, expect, test } from 'vitest';
import { memoryTombstones, ToolUnsafe, testToolIsSafe } from '../../kit/conformance.ts';
import { toolHandler } from '../../kit/handler.ts';
import { ToolRejected } from '../../kit/outcomes.ts';
import { type Definition, make } from '../support/kit-tool.ts';
import { requestOf } from '../support/tool-requests.ts';

describe('testToolIsSafe', () => {
  const world = () => {
    const acts: string[] = [];
    return { acts, observe: async () => acts };
  };
  /** Acts once for each key. */
  const byKey =
    (acts: string[]): Definition['execute'] =>
    async (_, { forwardKey }) => {
      if (!acts.includes(forwardKey)) acts.push(forwardKey);
      return { id: forwardKey };
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
    const found = testToolIsSafe(make({ execute: byKey(acts), compensate }), {
      arguments: { n: 1 },
      observe,
    });
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
    const compensate: Definition['compensate'] = {
      name: 'undo_act',
      execute: async (_, one) => {
        const at = acts.indexOf(one.forwardKey);
        if (at === -1) throw new Error('nothing there');
        acts.splice(at, 1);
      },
    };
    await expect(
      testToolIsSafe(make({ execute: byKey(acts), compensate }), { arguments: { n: 1 }, observe }),
    ).rejects.toThrow('its compensator accepts that nothing happened');
  });
});

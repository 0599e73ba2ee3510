import { describe, expect, test } from 'vitest';
import type { SagaStore } from '../../core/saga/ports.ts';
import { committed, rejected, SAGA, scriptedSaga, scriptedTool } from '../support/scripted-saga.ts';

/** The store of DynamoDB: at most 100 items in one transaction, the head among them. */
const transactionsOf = (sizes: number[]) => (store: SagaStore) => ({
  ...store,
  append: async (...[head, version, entries, beside]: Parameters<SagaStore['append']>) => {
    sizes.push(entries.length + 1);
    if (entries.length + 1 > 100) throw new RangeError('more than 100 items in one transaction');
    return store.append(head, version, entries, beside);
  },
});

const ONCE = { maxAttempts: 1, backoffSeconds: 0, backoffRate: 1, maxBackoffSeconds: 0 };

/** 120 effects, then a refusal. */
const long = async (options: { resourceKey?: string; fails: (step: string) => boolean }) => {
  const compensation = { name: 'undo', timeoutSeconds: 10, retry: ONCE };
  const resource = options.resourceKey === undefined ? {} : { resourceKey: options.resourceKey };
  const sizes: number[] = [];
  const saga = await scriptedSaga({
    tools: [
      scriptedTool('charge', 'compensatable', { compensation, ...resource }),
      scriptedTool('stop', 'read'),
    ],
    steps: [
      ...Array.from({ length: 120 }, (_, n) => ({ id: `s${n}`, tool: 'charge', arguments: { n } })),
      { id: 'stop', tool: 'stop', arguments: {} },
    ],
    answer: ({ step, operation }) => {
      if (step === 'stop') return rejected();
      return operation === 'compensate' && options.fails(step) ? rejected() : committed();
    },
    storing: transactionsOf(sizes),
  });
  await saga.run();
  return { sizes, ...saga };
};

describe('one move is one transaction of at most 100 items', () => {
  test('when one failed compensator blocks all earlier effects on its resource', async () => {
    const saga = await long({ resourceKey: "'account'", fails: (step) => step === 's119' });
    const { state } = await saga.sound();
    expect(state.status).toBe('COMPENSATION_FAILED');
    expect(state.effects.filter(({ status }) => status === 'blocked')).toHaveLength(119);
    expect(Math.max(...saga.sizes)).toBeLessThan(60);
  });

  test('when an operator retries all failed compensators: the last started first, the rest when asked again', async () => {
    let failing = true;
    const saga = await long({ fails: () => failing });
    failing = false;
    const left = async () =>
      (await saga.seen()).state.effects
        .filter(({ status }) => status === 'undo_failed')
        .map(({ step }) => step);
    expect(await left()).toHaveLength(120);
    for (const rest of [80, 40, 0]) {
      await saga.machine.operate({ sagaId: SAGA, action: 'retry', by: 'fin' });
      await saga.machine.settle();
      expect(await left()).toEqual(Array.from({ length: rest }, (_, step) => step));
    }
    const { state } = await saga.sound();
    expect(state.status).toBe('COMPENSATED');
    expect(Math.max(...saga.sizes)).toBeLessThan(60);
  });
});

describe('the way back is linear in what still stands', () => {
  /** Reads of the store for one effect, when the compensators of all fail and each has a resource of its own. */
  const readsFor = async (steps: number): Promise<number> => {
    let reads = 0;
    const counting = (store: SagaStore): SagaStore => {
      const count = <Result>(read: Promise<Result>): Promise<Result> => {
        reads += 1;
        return read;
      };
      return {
        ...store,
        getHead: (...asked) => count(store.getHead(...asked)),
        getEntry: (...asked) => count(store.getEntry(...asked)),
        getPinnedStep: (...asked) => count(store.getPinnedStep(...asked)),
        getPinnedInput: (...asked) => count(store.getPinnedInput(...asked)),
      };
    };
    const saga = await scriptedSaga({
      tools: [
        scriptedTool('charge', 'compensatable', {
          compensation: { name: 'undo', timeoutSeconds: 10, retry: ONCE },
          resourceKey: '$string(n)',
        }),
        scriptedTool('stop', 'read'),
      ],
      steps: [
        ...Array.from({ length: steps }, (_, n) => ({ id: `s${n}`, tool: 'charge', arguments: { n } })),
        { id: 'stop', tool: 'stop', arguments: {} },
      ],
      answer: ({ step, operation }) =>
        step === 'stop' || operation === 'compensate' ? rejected() : committed(),
      storing: counting,
    });
    await saga.run();
    const { state } = await saga.sound();
    expect(state.effects.filter(({ status }) => status === 'undo_failed')).toHaveLength(steps);
    return reads / steps;
  };

  test('four times as many failed compensators are four times the reads, not sixteen times', async () => {
    const few = await readsFor(25);
    const many = await readsFor(100);
    expect(many).toBeLessThan(few * 1.1);
  });
});

/** A child whose effects cannot be undone, and what its parents do. */
import { describe, expect, test } from 'vitest';
import { Crash } from '../../kit/testing/saga-machine.ts';
import { expectSettledTree, put, ROOT, runTree, standingSteps } from '../support/tree-saga.ts';

const stuckChild = {
  steps: [
    put('before'),
    {
      id: 'outer',
      saga: {
        plan: {
          steps: [
            put('first'),
            {
              id: 'inner',
              saga: { plan: { steps: [put('one', { stuck: true }), put('two', { fail: true })] } },
            },
          ],
        },
      },
    },
  ],
};

describe('a child that cannot be undone', () => {
  test('fails the sagas above it, and repairing it makes them decide again', async () => {
    const { saga, status } = await runTree({ plan: stuckChild });
    expect(status).toBe('COMPENSATION_FAILED');
    expect(standingSteps(saga)).toEqual(['one']);
    expect(saga.headOf('root.outer').state.status).toBe('COMPENSATION_FAILED');
    saga.provider.free('one');
    await expect(saga.machine.operate({ sagaId: ROOT, action: 'retry', by: 'op' })).rejects.toMatchObject({
      name: 'OperationRefused',
      message: expect.stringContaining('children'),
    });
    await saga.machine.operate({ sagaId: 'root.outer.inner', action: 'retry', by: 'op' });
    await saga.machine.settle();
    expect(expectSettledTree(saga)).toBe('COMPENSATED');
    expect(standingSteps(saga)).toEqual([]);
  });

  /** `inner` is repaired, and dies before it tells `outer`. */
  const lostWord = async () => {
    const cut = { isOn: false };
    const { saga } = await runTree({
      plan: stuckChild,
      storing: (store) => ({
        ...store,
        getHead: async (sagaId) => {
          const inner = cut.isOn ? await store.getHead('root.outer.inner') : undefined;
          if (sagaId === 'root.outer' && inner?.state.status === 'COMPENSATED') throw new Crash('gone');
          return store.getHead(sagaId);
        },
      }),
    });
    saga.provider.free('one');
    await saga.machine.operate({ sagaId: 'root.outer.inner', action: 'retry', by: 'op' });
    cut.isOn = true;
    const { generation } = saga.headOf('root.outer.inner').state;
    await expect(saga.machine.execute('root.outer.inner', generation)).rejects.toBeInstanceOf(Crash);
    cut.isOn = false;
    expect(saga.headOf('root.outer.inner').state.status).toBe('COMPENSATED');
    for (const above of ['root.outer', ROOT]) {
      expect(saga.headOf(above).state.status).toBe('COMPENSATION_FAILED');
    }
    return saga;
  };

  test.each([
    ['the root', { sagaId: ROOT, action: 'retry' }],
    ['the saga above it', { sagaId: 'root.outer', action: 'retry' }],
    ['the step of the root that runs it', { sagaId: ROOT, action: 'skip', stepId: 'outer', evidence: 'why' }],
    ['itself, again', { sagaId: 'root.outer.inner', action: 'retry' }],
    ['its step, again', { sagaId: 'root.outer.inner', action: 'retry', stepId: 'one' }],
  ] as const)('and dies before it tells is told of by who works %s', async (_, request) => {
    const saga = await lostWord();
    await saga.machine.operate({ ...request, by: 'op' });
    expect(saga.headOf('root.outer').state.status).not.toBe('COMPENSATION_FAILED');
    await saga.machine.settle();
    expect(expectSettledTree(saga)).toBe('COMPENSATED');
    expect(standingSteps(saga)).toEqual([]);
    const { seq } = saga.headOf('root.outer.inner');
    await saga.machine.operate({ sagaId: 'root.outer.inner', action: 'retry', by: 'op' });
    expect(saga.headOf('root.outer.inner').seq, 'asked again, it is one').toBe(seq);
  });

  test('and dies before it tells is told of by the next sweep', async () => {
    const saga = await lostWord();
    expect((await saga.machine.sweep()).resumed).toEqual(['root.outer']);
    await saga.machine.settle();
    expect(expectSettledTree(saga)).toBe('COMPENSATED');
  });

  test('keeps earlier effects on its resource from being undone, until it is repaired', async () => {
    const { saga, status } = await runTree({
      plan: {
        steps: [
          put('before', { key: 'k' }),
          { id: 'inner', saga: { plan: { steps: [put('one', { key: 'k', stuck: true })] } } },
          put('after', { fail: true }),
        ],
      },
    });
    expect(status).toBe('COMPENSATION_FAILED');
    expect(saga.headOf(ROOT).state.effects[0]?.status).toBe('blocked');
    await saga.machine.operate({
      sagaId: 'root.inner',
      action: 'skip',
      stepId: 'one',
      evidence: 'it may stay',
      by: 'op',
    });
    await saga.machine.settle();
    expect(saga.headOf(ROOT).state.status).toBe('COMPENSATED');
    expect(standingSteps(saga)).toEqual(['k']);
  });

  test('among branches, an earlier one on its resource waits for the repair', async () => {
    const { saga, status } = await runTree({
      plan: {
        steps: [
          {
            id: 'all',
            branches: [
              { id: 'a', plan: { steps: [put('one', { key: 'k' })] } },
              {
                id: 'b',
                plan: {
                  steps: [{ id: 'look', tool: 'look', arguments: {} }, put('one', { key: 'k', stuck: true })],
                },
              },
            ],
          },
          put('after', { fail: true }),
        ],
      },
    });
    expect(status).toBe('COMPENSATION_FAILED');
    expect(saga.headOf('root.all.a').state.status).toBe('COMPLETED');
    saga.provider.free('k');
    await saga.machine.operate({ sagaId: 'root.all.b', action: 'retry', by: 'op' });
    await saga.machine.settle();
    expect(expectSettledTree(saga)).toBe('COMPENSATED');
    expect(standingSteps(saga)).toEqual([]);
  });
});

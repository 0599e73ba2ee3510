/** A child whose effects cannot be undone, and what its parents do. */
import { describe, expect, test } from 'vitest';
import { expectSettledTree, put, ROOT, runTree, standingIn } from '../support/tree-saga.ts';

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
    expect(standingIn(saga)).toEqual(['one']);
    expect(saga.headOf('root.outer').state.status).toBe('COMPENSATION_FAILED');
    saga.provider.free('one');
    await expect(saga.machine.operate({ sagaId: ROOT, action: 'retry', by: 'op' })).rejects.toMatchObject({
      name: 'OperationRefused',
      message: expect.stringContaining('children'),
    });
    await saga.machine.operate({ sagaId: 'root.outer.inner', action: 'retry', by: 'op' });
    await saga.machine.settle();
    expect(expectSettledTree(saga)).toBe('COMPENSATED');
    expect(standingIn(saga)).toEqual([]);
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
    expect(standingIn(saga)).toEqual(['k']);
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
    expect(standingIn(saga)).toEqual([]);
  });
});

/** A root whose children did something that nothing takes back is not undone or rewound over it unasked (L6). */
import { describe, expect, test } from 'vitest';
import type { RewindAnswer } from '../../contract/rewind.ts';
import { expectSoundTree, put, ROOT, treeSaga } from '../support/tree-saga.ts';

const mail = { id: 'mail', tool: 'mail', arguments: {} };
const finished = async () => {
  const saga = await treeSaga({
    plan: {
      steps: [
        put('first'),
        {
          id: 'tell',
          branches: [
            { id: 'one', plan: { steps: [put('inner'), { id: 'deep', saga: { plan: { steps: [mail] } } }] } },
          ],
        },
      ],
    },
  });
  await saga.run();
  expect(saga.headOf(ROOT).state.status).toBe('COMPLETED');
  return saga;
};

describe('an irreversible step of a grandchild', () => {
  const acts = {
    undo: (saga: Awaited<ReturnType<typeof finished>>, dryRun: boolean) =>
      saga.machine.operate({ sagaId: ROOT, action: 'undo', by: 'ada', ...(dryRun ? { dryRun } : {}) }),
    rewind: (saga: Awaited<ReturnType<typeof finished>>, dryRun: boolean) =>
      saga.machine.rewind({
        sagaId: ROOT,
        to: { steps: 1 },
        requestId: 'rw',
        by: 'rita',
        ...(dryRun ? { dryRun } : {}),
      }),
  };
  test.each(['undo', 'rewind'] as const)(
    'refuses the %s of its root, and the plan names its path',
    async (name) => {
      const saga = await finished();
      const before = saga.headOf(ROOT);
      await expect(acts[name](saga, false)).rejects.toMatchObject({
        name: 'PointOfNoReturn',
        message: expect.stringContaining('tell/deep/mail'),
      });
      expect(saga.headOf(ROOT)).toEqual(before);
      const planned = await acts[name](saga, true);
      const plan = 'sagas' in planned ? planned.sagas[0]?.plan : planned.plan;
      expect(plan?.stands).toMatchObject([{ step: 'tell/deep/mail', tool: 'mail' }]);
    },
  );
});

test('a root is rewound over children that can be undone: they are unwound, and run again in its next epoch', async () => {
  const saga = await treeSaga({
    plan: {
      steps: [
        put('first'),
        { id: 'both', branches: ['a', 'b'].map((id) => ({ id, plan: { steps: [put(id)] } })) },
      ],
    },
  });
  await saga.run();
  await saga.machine.rewind({ sagaId: ROOT, to: { stepId: 'first' }, requestId: 'rw', by: 'rita' });
  await saga.machine.settle();
  expect(saga.headOf(ROOT).state).toMatchObject({ status: 'COMPLETED', epoch: 1 });
  expectSoundTree(saga);
  const standing = [...saga.provider.standing.values()].map(({ resource }) => resource);
  expect(standing.toSorted()).toEqual(['a', 'b', 'first']);
  expect(saga.provider.doubled).toEqual([]);
  expect(saga.provider.log.filter(({ what }) => what === 'undo')).toHaveLength(2);
});

test('the step whose children still run is the last one: one step back takes back nothing before it', async () => {
  let planned: RewindAnswer | undefined;
  const saga = await treeSaga({
    plan: {
      steps: [put('first'), put('second'), { id: 'below', saga: { plan: { steps: [put('inner')] } } }],
    },
    onInvoke: async ({ step, operation }) => {
      if (step !== 'inner' || operation !== 'execute' || planned !== undefined) return;
      planned = await saga.machine.rewind({ sagaId: ROOT, to: { steps: 1 }, requestId: 'rw', by: 'rita' });
    },
  });
  await saga.run();
  expect(planned?.sagas[0]).toMatchObject({
    after: 'second',
    plan: { undo: [{ step: 'below' }, { step: 'below/inner' }] },
  });
  expect(saga.headOf(ROOT).state).toMatchObject({ status: 'COMPLETED', epoch: 1 });
  expectSoundTree(saga);
  expect(saga.provider.log.map(({ what, resource }) => `${what} ${resource}`)).toEqual([
    'put first',
    'put second',
    'put inner',
    'undo inner',
    'put inner',
  ]);
});

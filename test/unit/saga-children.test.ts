/** Steps that run a saga, and branches that run side by side. */
import { describe, expect, test } from 'vitest';
import { packEffects, unpackEffects } from '../../core/saga/run/pack-state.ts';
import { createListSagas } from '../../core/saga/view/list-sagas.ts';
import { observe } from '../../core/saga/view/observation.ts';
import {
  definitionOf,
  expectSettledTree,
  fine,
  put,
  ROOT,
  runTree,
  standingSteps,
  treeSaga,
} from '../support/tree-saga.ts';

describe('a step that runs a saga', () => {
  test.each(['before', 'after'] as const)(
    'completes when its child ends %s the parent is known to wait, without the sweeper',
    async (when) => {
      let early = 0;
      const saga = await treeSaga({
        plan: { steps: [{ id: 'inner', saga: { plan: { steps: [put('work')] } }, input: {} }] },
        storing: (store) => ({
          ...store,
          putToken: async (token) => {
            const runChild = async () => {
              if (token.sagaId !== ROOT || early > 0) return;
              early += 1;
              await saga.machine.execute(`${ROOT}.inner`, 1);
              expect(saga.headOf(`${ROOT}.inner`).state.status).toBe('COMPLETED');
            };
            if (when === 'before') await runChild();
            const isKept = await store.putToken(token);
            if (when === 'after') await runChild();
            return isKept;
          },
        }),
      });
      await saga.start();
      const beganMs = saga.clock.nowMs();
      await saga.machine.settle();
      expect(early).toBe(1);
      expect(expectSettledTree(saga)).toBe('COMPLETED');
      // A wake-up that was lost is made up for after a minute.
      const ended = saga.memory.ledger.get(ROOT)?.find(({ status }) => status === 'completed');
      expect(Date.parse(ended?.at ?? '') - beganMs).toBeLessThan(30_000);
    },
  );

  test('commits with the output of the child, which later steps use', async () => {
    const { saga, status } = await runTree({
      input: { order: 7 },
      plan: {
        steps: [
          put('before'),
          {
            id: 'inner',
            saga: {
              plan: {
                steps: [
                  put('one'),
                  { id: 'two', tool: 'put', arguments: { key: '{% "k" & $string(input.n) %}' } },
                ],
                output: { made: '{% steps.two.result.key %}', of: '{% input.n %}' },
              },
            },
            input: { n: '{% input.order %}' },
          },
          { id: 'after', tool: 'put', arguments: { key: '{% steps.inner.result.made %}' } },
        ],
        output: '{% steps.inner.result.of + 1 %}',
      },
    });
    expect(status).toBe('COMPLETED');
    expect(standingSteps(saga)).toEqual(['before', 'k7', 'k7', 'one']);
    const entries = saga.memory.ledger.get(ROOT) ?? [];
    expect(entries.findLast((entry) => entry.status === 'completed')).toMatchObject({ output: 8 });
    expect(saga.headOf('root.inner').root).toBe(ROOT);
  });

  test('is undone when a later step fails, the completed child included', async () => {
    const { saga, status } = await runTree({
      plan: {
        steps: [
          put('before'),
          { id: 'inner', saga: { plan: { steps: [put('one'), put('two')] } } },
          put('after', { fail: true }),
        ],
      },
    });
    expect(status).toBe('COMPENSATED');
    expect(standingSteps(saga)).toEqual([]);
    expect(saga.provider.log.filter(({ what }) => what === 'undo').map(({ resource }) => resource)).toEqual([
      'two',
      'one',
      'before',
    ]);
    expect(saga.headOf('root.inner').state.status).toBe('COMPENSATED');
  });

  test('is rejected when the child fails', async () => {
    const { saga, status } = await runTree({
      plan: {
        steps: [
          put('before'),
          { id: 'inner', saga: { plan: { steps: [put('one'), put('two', { fail: true })] } } },
          put('after'),
        ],
      },
    });
    expect(status).toBe('COMPENSATED');
    expect(standingSteps(saga)).toEqual([]);
    expect(saga.headOf(ROOT).state.failure?.error.name).toBe('ChildUndone');
  });

  test('takes a template, pinned with the parent', async () => {
    const { saga, status } = await runTree({
      definitions: [
        definitionOf('shop', { steps: [{ id: 'go', saga: { definition: 'leaf' }, input: '{% input %}' }] }),
        definitionOf('leaf', { steps: [{ id: 'put', tool: 'put', arguments: { key: '{% input.name %}' } }] }),
      ],
      plan: { steps: [{ id: 'inner', saga: { definition: 'shop' }, input: { name: 'x' } }] },
    });
    expect(status).toBe('COMPLETED');
    expect(standingSteps(saga)).toEqual(['x']);
    expect(saga.headOf('root.inner.go').definition).toBe('leaf@1');
  });
});

const failing = (id: string, key: string) => ({
  id,
  plan: { steps: [put('one', { key }), put('two', { fail: true })] },
});

describe('branches', () => {
  test('all done: the result names each', async () => {
    const { saga, status } = await runTree({
      plan: {
        steps: [
          { id: 'both', branches: [fine('a', 'ka'), fine('b', 'kb')] },
          {
            id: 'last',
            tool: 'put',
            arguments: { key: '{% steps.both.result.a.output & steps.both.result.b.output %}' },
          },
        ],
      },
    });
    expect(status).toBe('COMPLETED');
    expect(standingSteps(saga)).toEqual(['ab', 'ka', 'kb']);
  });

  test('one fails, and those that share its resource are undone; the others stay', async () => {
    const { saga, status } = await runTree({
      plan: {
        steps: [
          put('before'),
          { id: 'all', branches: [failing('bad', 'shared'), fine('near', 'shared'), fine('far', 'other')] },
        ],
        output:
          '{% steps.all.result.bad.status & steps.all.result.near.status & steps.all.result.far.status %}',
      },
    });
    expect(status).toBe('COMPLETED');
    expect(standingSteps(saga)).toEqual(['before', 'other']);
    expect(saga.memory.ledger.get(ROOT)?.findLast((entry) => entry.status === 'completed')).toMatchObject({
      output: 'COMPENSATEDCOMPENSATEDCOMPLETED',
    });
  });

  test('a sibling of a sibling goes too, when they share', async () => {
    const two = (id: string, one: string, other: string) => ({
      id,
      plan: { steps: [put('one', { key: one }), put('two', { key: other })] },
    });
    const { saga, status } = await runTree({
      plan: {
        steps: [
          {
            id: 'all',
            branches: [failing('bad', 'x'), two('near', 'x', 'y'), two('next', 'y', 'z'), fine('far', 'w')],
          },
        ],
      },
    });
    expect(status).toBe('COMPLETED');
    expect(standingSteps(saga)).toEqual(['w']);
  });

  test('all: one fails, and everything is undone', async () => {
    const { saga, status } = await runTree({
      plan: {
        steps: [
          put('before'),
          { id: 'all', branches: [failing('bad', 'x'), fine('far', 'y')], onBranchFailure: 'all' as const },
        ],
      },
    });
    expect(status).toBe('COMPENSATED');
    expect(standingSteps(saga)).toEqual([]);
  });

  test('isolate: one fails, and the one that shares its resource stays', async () => {
    const { saga, status } = await runTree({
      plan: {
        steps: [
          {
            id: 'all',
            branches: [failing('bad', 'x'), fine('near', 'x')],
            onBranchFailure: 'isolate' as const,
          },
        ],
      },
    });
    expect(status).toBe('COMPLETED');
    expect(standingSteps(saga)).toEqual(['x']);
    const head = saga.memory.heads.get(ROOT) ?? expect.unreachable('no head');
    const { branchesFailed, advice } = observe(head, saga.memory.ledger.get(ROOT) ?? []);
    expect({ branchesFailed, advice }).toEqual({
      branchesFailed: 1,
      advice: expect.stringContaining('some of their branches failed'),
    });
    expect(unpackEffects(packEffects(head.state.effects))).toEqual(head.state.effects);
    const { sagas } = await createListSagas({ store: saga.memory.store, clock: saga.clock })({});
    expect(sagas.filter((one) => one.branchesFailed !== undefined)).toMatchObject([
      { sagaId: ROOT, status: 'COMPLETED', failure: null, branchesFailed: 1 },
    ]);
  });

  test('report: none stands, and a later step decides on what became of them; undoing it is nothing more', async () => {
    const steps = [
      {
        id: 'try',
        branches: [failing('a', 'x'), failing('b', 'y')],
        onBranchFailure: 'report' as const,
      },
      {
        id: 'again',
        each: "{% steps.try.result.a.status = 'COMPLETED' ? [] : [steps.try.result.a.error.message] %}",
        plan: { steps: [put('again')], output: '{% input %}' },
      },
    ];
    const { saga, status } = await runTree({ plan: { steps, output: '{% steps.again.result.output %}' } });
    expect(status).toBe('COMPLETED');
    expect(standingSteps(saga)).toEqual(['again']);
    const end = saga.memory.ledger.get(ROOT)?.findLast((entry) => entry.status === 'completed');
    expect(end).toMatchObject({ output: expect.stringMatching(/./) });
    const undone = await runTree({ plan: { steps: [...steps, put('after', { fail: true })] } });
    expect(undone.status).toBe('COMPENSATED');
    expect(standingSteps(undone.saga)).toEqual([]);
  });

  test('no branch stands, so the step is rejected', async () => {
    const { status } = await runTree({
      plan: { steps: [{ id: 'all', branches: [failing('a', 'x'), failing('b', 'y')] }] },
    });
    expect(status).toBe('COMPENSATED');
  });

  test('each: one child for each element, and an empty list is done at once', async () => {
    const { saga, status } = await runTree({
      input: { orders: ['p', 'q', 'r'], none: [] },
      plan: {
        steps: [
          {
            id: 'ship',
            each: '{% input.orders %}',
            plan: {
              steps: [{ id: 'put', tool: 'put', arguments: { key: '{% input %}' } }],
              output: '{% input %}',
            },
          },
          { id: 'nothing', each: '{% input.none %}', plan: { steps: [put('never')] } },
          { id: 'absent', each: '{% input.absent %}', plan: { steps: [put('never')] } },
          {
            id: 'range',
            each: '{% [1..3] %}',
            plan: { steps: [{ id: 'look', tool: 'look', arguments: {} }] },
          },
        ],
        output: '{% $join(steps.ship.result.output) & $count(steps.range.result) %}',
      },
    });
    expect(status).toBe('COMPLETED');
    expect(standingSteps(saga)).toEqual(['p', 'q', 'r']);
    expect(saga.memory.ledger.get(ROOT)?.findLast((entry) => entry.status === 'completed')).toMatchObject({
      output: 'pqr3',
    });
  });

  test('siblings are undone side by side, and one after the other where they share a resource', async () => {
    const { saga, status } = await runTree({
      plan: {
        steps: [
          { id: 'all', branches: [fine('a', 'shared'), fine('b', 'shared'), fine('c', 'alone')] },
          put('after', { fail: true }),
        ],
      },
    });
    expect(status).toBe('COMPENSATED');
    const shared = saga.provider.log.filter(({ resource }) => resource === 'shared');
    const [put1, put2, undo1, undo2] = shared.map(({ key }) => key);
    expect(shared.map(({ what }) => what)).toEqual(['put', 'put', 'undo', 'undo']);
    expect([undo1, undo2], 'reverse order of start').toEqual([put2, put1]);
  });
});

import { describe, expect, test } from 'vitest';
import { createPaint } from '../../cli/terminal/terminal.ts';
import { sagaTree } from '../../cli/view/saga-views.ts';
import type { Observation } from '../../contract/saga-answers.ts';
import { childIds, verifyFamily } from '../../core/saga/ledger/verify-family.ts';
import type { LedgerEntry } from '../../core/saga/model/ledger-entry.ts';
import { createDescribe } from '../../core/saga/people/describe.ts';
import { createRewindSaga } from '../../core/saga/people/rewind-saga.ts';
import { evaluate } from '../support/plan-tools.ts';
import { definitionOf, expectSettledTree, put, ROOT, treeSaga } from '../support/tree-saga.ts';

const run = async (options: Parameters<typeof treeSaga>[0]) => {
  const saga = await treeSaga(options);
  await saga.start();
  await saga.machine.settle();
  return { saga, status: expectSettledTree(saga) };
};

const standing = ({ provider }: Awaited<ReturnType<typeof treeSaga>>) =>
  [...provider.standing.values()].map(({ resource }) => resource).sort();

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
            await store.putToken(token);
            if (when === 'after') await runChild();
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
    const { saga, status } = await run({
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
    expect(standing(saga)).toEqual(['before', 'k7', 'k7', 'one']);
    const entries = saga.memory.ledger.get(ROOT) ?? [];
    expect(entries.findLast((entry) => entry.status === 'completed')).toMatchObject({ output: 8 });
    expect(saga.headOf('root.inner').root).toBe(ROOT);
  });

  test('is undone when a later step fails, the completed child included', async () => {
    const { saga, status } = await run({
      plan: {
        steps: [
          put('before'),
          { id: 'inner', saga: { plan: { steps: [put('one'), put('two')] } } },
          put('after', { fail: true }),
        ],
      },
    });
    expect(status).toBe('COMPENSATED');
    expect(standing(saga)).toEqual([]);
    expect(saga.provider.log.filter(({ what }) => what === 'undo').map(({ resource }) => resource)).toEqual([
      'two',
      'one',
      'before',
    ]);
    expect(saga.headOf('root.inner').state.status).toBe('COMPENSATED');
  });

  test('is rejected when the child fails', async () => {
    const { saga, status } = await run({
      plan: {
        steps: [
          put('before'),
          { id: 'inner', saga: { plan: { steps: [put('one'), put('two', { fail: true })] } } },
          put('after'),
        ],
      },
    });
    expect(status).toBe('COMPENSATED');
    expect(standing(saga)).toEqual([]);
    expect(saga.headOf(ROOT).state.failure?.error.name).toBe('ChildUndone');
  });

  test('takes a template, pinned with the parent', async () => {
    const { saga, status } = await run({
      definitions: [
        definitionOf('shop', { steps: [{ id: 'go', saga: { definition: 'leaf' }, input: '{% input %}' }] }),
        definitionOf('leaf', { steps: [{ id: 'put', tool: 'put', arguments: { key: '{% input.name %}' } }] }),
      ],
      plan: { steps: [{ id: 'inner', saga: { definition: 'shop' }, input: { name: 'x' } }] },
    });
    expect(status).toBe('COMPLETED');
    expect(standing(saga)).toEqual(['x']);
    expect(saga.headOf('root.inner.go').definition).toBe('leaf@1');
  });
});

const failing = (id: string, key: string) => ({
  id,
  plan: { steps: [put('one', { key }), put('two', { fail: true })] },
});
const fine = (id: string, key: string) => ({ id, plan: { steps: [put('one', { key })], output: id } });

describe('branches', () => {
  test('all done: the result names each', async () => {
    const { saga, status } = await run({
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
    expect(standing(saga)).toEqual(['ab', 'ka', 'kb']);
  });

  test('one fails, and those that share its resource are undone; the others stay', async () => {
    const { saga, status } = await run({
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
    expect(standing(saga)).toEqual(['before', 'other']);
    expect(saga.memory.ledger.get(ROOT)?.findLast((entry) => entry.status === 'completed')).toMatchObject({
      output: 'COMPENSATEDCOMPENSATEDCOMPLETED',
    });
  });

  test('a sibling of a sibling goes too, when they share', async () => {
    const two = (id: string, one: string, other: string) => ({
      id,
      plan: { steps: [put('one', { key: one }), put('two', { key: other })] },
    });
    const { saga, status } = await run({
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
    expect(standing(saga)).toEqual(['w']);
  });

  test('all: one fails, and everything is undone', async () => {
    const { saga, status } = await run({
      plan: {
        steps: [
          put('before'),
          { id: 'all', branches: [failing('bad', 'x'), fine('far', 'y')], onBranchFailure: 'all' as const },
        ],
      },
    });
    expect(status).toBe('COMPENSATED');
    expect(standing(saga)).toEqual([]);
  });

  test('isolate: one fails, and the one that shares its resource stays', async () => {
    const { saga, status } = await run({
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
    expect(standing(saga)).toEqual(['x']);
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
    const { saga, status } = await run({ plan: { steps, output: '{% steps.again.result.output %}' } });
    expect(status).toBe('COMPLETED');
    expect(standing(saga)).toEqual(['again']);
    const end = saga.memory.ledger.get(ROOT)?.findLast((entry) => entry.status === 'completed');
    expect(end).toMatchObject({ output: expect.stringMatching(/./) });
    const undone = await run({ plan: { steps: [...steps, put('after', { fail: true })] } });
    expect(undone.status).toBe('COMPENSATED');
    expect(standing(undone.saga)).toEqual([]);
  });

  test('no branch stands, so the step is rejected', async () => {
    const { status } = await run({
      plan: { steps: [{ id: 'all', branches: [failing('a', 'x'), failing('b', 'y')] }] },
    });
    expect(status).toBe('COMPENSATED');
  });

  test('each: one child for each element, and an empty list is done at once', async () => {
    const { saga, status } = await run({
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
    expect(standing(saga)).toEqual(['p', 'q', 'r']);
    expect(saga.memory.ledger.get(ROOT)?.findLast((entry) => entry.status === 'completed')).toMatchObject({
      output: 'pqr3',
    });
  });

  test('siblings are undone side by side, and one after the other where they share a resource', async () => {
    const { saga, status } = await run({
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
    const { saga, status } = await run({ plan: stuckChild });
    expect(status).toBe('COMPENSATION_FAILED');
    expect(standing(saga)).toEqual(['one']);
    expect(saga.headOf('root.outer').state.status).toBe('COMPENSATION_FAILED');
    saga.provider.free('one');
    await expect(saga.machine.operate({ sagaId: ROOT, action: 'retry', by: 'op' })).rejects.toMatchObject({
      name: 'OperationRefused',
      message: expect.stringContaining('children'),
    });
    await saga.machine.operate({ sagaId: 'root.outer.inner', action: 'retry', by: 'op' });
    await saga.machine.settle();
    expect(expectSettledTree(saga)).toBe('COMPENSATED');
    expect(standing(saga)).toEqual([]);
  });

  test('keeps earlier effects on its resource from being undone, until it is repaired', async () => {
    const { saga, status } = await run({
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
    expect(standing(saga)).toEqual(['k']);
  });

  test('among branches, an earlier one on its resource waits for the repair', async () => {
    const { saga, status } = await run({
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
    expect(standing(saga)).toEqual([]);
  });
});

const nested = {
  steps: [
    put('before'),
    {
      id: 'all',
      branches: [
        fine('a', 'ka'),
        {
          id: 'b',
          plan: {
            steps: [put('one'), { id: 'deep', saga: { plan: { steps: [put('two')] } } }, put('three')],
          },
        },
      ],
    },
    put('after'),
  ],
};

describe('a tree', () => {
  test.each(Array.from({ length: 6 }, (_, at) => at))(
    'that is cancelled at call %d is undone',
    async (at) => {
      let calls = 0;
      const saga = await treeSaga({
        plan: nested,
        onInvoke: async () => {
          calls += 1;
          if (calls === at + 1) await saga.machine.operate({ sagaId: ROOT, action: 'cancel', by: 'op' });
        },
      });
      await saga.start();
      await saga.machine.settle();
      expect(calls).toBeGreaterThan(at);
      const status = expectSettledTree(saga);
      expect(status).toBe(at === 6 ? status : 'COMPENSATED');
      if (status === 'COMPENSATED') expect(standing(saga)).toEqual([]);
    },
  );

  test('whose child is cancelled by a person is undone', async () => {
    let asked = false;
    const saga = await treeSaga({
      plan: nested,
      onInvoke: async ({ sagaId }) => {
        if (sagaId !== 'root.all.b' || asked) return;
        asked = true;
        await saga.machine
          .operate({ sagaId: 'root.all.b.deep', action: 'cancel', by: 'op' })
          .catch(() => undefined);
        await saga.machine.operate({ sagaId: 'root.all.b', action: 'cancel', by: 'op' });
      },
    });
    await saga.start();
    await saga.machine.settle();
    expect(expectSettledTree(saga)).toBe('COMPLETED');
    expect(saga.headOf('root.all.b').state.status).toBe('COMPENSATED');
    expect(standing(saga)).toEqual(['after', 'before', 'ka']);
  });

  test('whose time is over cancels what still runs', async () => {
    const { saga, status } = await run({
      onInvoke: async ({ step }, clock) => {
        if (step === 'one') await clock.advance(9_000);
      },
      plan: {
        steps: [
          { id: 'inner', saga: { plan: { steps: [put('one'), put('two')] } }, timeoutSeconds: 5 },
          put('after'),
        ],
      },
    });
    expect(status).toBe('COMPENSATED');
    expect(saga.headOf(ROOT).state.failure?.error.name).toBe('ChildrenOverdue');
    expect(standing(saga)).toEqual([]);
  });

  test('an approval in a child is answered at the child', async () => {
    const saga = await treeSaga({
      plan: {
        steps: [
          {
            id: 'inner',
            saga: {
              plan: {
                steps: [
                  put('one'),
                  { id: 'send', tool: 'mail', arguments: {}, approval: { timeoutSeconds: 60 } },
                ],
              },
            },
          },
        ],
      },
      onAwait: async ({ sagaId }) => {
        await saga.machine.answer({ sagaId, stepId: 'send', decision: 'approve', by: 'boss' });
        return true;
      },
    });
    await saga.start();
    await saga.machine.settle();
    expect(expectSettledTree(saga)).toBe('COMPLETED');
  });

  test('whose child has the id of another saga is rejected, and the other one is left alone', async () => {
    const saga = await treeSaga({
      plan: { steps: [put('before'), { id: 'inner', saga: { plan: { steps: [put('one')] } } }] },
    });
    await saga.machine.start({
      sagaId: 'root.inner',
      plan: { steps: [put('mine')] },
      input: {},
      requestedBy: 'other',
    });
    await saga.machine.settle();
    await saga.start();
    await saga.machine.settle();
    expect(saga.headOf(ROOT).state).toMatchObject({
      status: 'COMPENSATED',
      failure: { error: { name: 'ChildUndone' } },
    });
    expect(standing(saga)).toEqual(['mine']);
    expect(saga.headOf('root.inner').state).toMatchObject({ status: 'COMPLETED' });
    expect(saga.headOf('root.inner').state.sealed).toBeUndefined();
  });

  test('that is rewound takes its children back, and runs new ones in the next epoch', async () => {
    const { saga, status } = await run({ plan: nested });
    expect(status).toBe('COMPLETED');
    const rewind = createRewindSaga({
      store: saga.store,
      engine: saga.machine.engine,
      clock: saga.clock,
      evaluate,
    });
    await rewind({ sagaId: ROOT, to: { stepId: 'before' }, requestId: 'r', by: 'op' });
    await saga.machine.settle();
    expect(expectSettledTree(saga)).toBe('COMPLETED');
    expect(saga.headOf('root.all.b.deep').state.status).toBe('COMPENSATED');
    expect(saga.headOf('root.all.b.E1.deep').state.status).toBe('COMPLETED');
    expect(standing(saga)).toEqual(['after', 'before', 'ka', 'one', 'three', 'two']);
    const child = { sagaId: 'root.all.a.E1', to: { steps: 1 }, requestId: 'c', by: 'op' };
    await expect(rewind(child)).rejects.toMatchObject({ name: 'OperationRefused' });
    const undo = { sagaId: 'root.all.a.E1', action: 'undo' as const, by: 'op' };
    await expect(saga.machine.operate(undo)).rejects.toMatchObject({ name: 'OperationRefused' });
  });

  test('is told as sealed from the moment on at which the root is completed, and provisional before', async () => {
    const told: string[] = [];
    const saga = await treeSaga({
      plan: nested,
      storing: (store) => ({
        ...store,
        append: async (head, ...rest) => {
          const outcome = await store.append(head, ...rest);
          if (head.sagaId === ROOT) {
            // The children are told of it after this transaction.
            const { children = [] } = await createDescribe({ store, clock: saga.clock })(ROOT);
            const sealed = children.filter(({ status }) => status === 'COMPLETED').map((one) => one.sealed);
            told.push(`${head.state.status} ${[...new Set(sealed)].join(' and ')}`);
          }
          return outcome;
        },
      }),
    });
    await saga.start();
    await saga.machine.settle();
    expect(expectSettledTree(saga)).toBe('COMPLETED');
    expect(told.at(-1)).toBe('COMPLETED true');
    expect(told.slice(0, -1)).toContain('RUNNING false');
    expect(told.slice(0, -1).some((one) => one.includes('true'))).toBe(false);
  });

  test('that is undone after it was completed unwinds its sealed children', async () => {
    const { saga } = await run({ plan: nested });
    await saga.machine.operate({ sagaId: ROOT, action: 'undo', by: 'op' });
    await saga.machine.settle();
    expect(expectSettledTree(saga)).toBe('COMPENSATED');
    expect(standing(saga)).toEqual([]);
  });

  test('is told with a line for each child, and with what waits and what stands below', async () => {
    const gate = { id: 'send', tool: 'mail', arguments: {}, approval: { timeoutSeconds: 60 } };
    const seen: Observation[] = [];
    const saga = await treeSaga({
      plan: {
        steps: [
          { id: 'all', branches: [fine('a', 'ka'), { id: 'b', plan: { steps: [put('one'), gate] } }] },
          {
            id: 'outer',
            saga: {
              plan: {
                steps: [
                  { id: 'deep', saga: { plan: { steps: [put('one', { key: 'held', stuck: true })] } } },
                ],
              },
            },
          },
          put('after', { fail: true }),
        ],
      },
      onAwait: async ({ sagaId }) => {
        seen.push(await createDescribe({ store: saga.store, clock: saga.clock })(ROOT, 30));
        await saga.machine.answer({ sagaId, stepId: 'send', decision: 'approve', by: 'boss' });
        return true;
      },
    });
    await saga.start();
    await saga.machine.settle();
    expect(seen[0]).toMatchObject({
      status: 'RUNNING',
      children: [
        { path: 'all/a', sagaId: 'root.all.a', status: 'COMPLETED', sealed: false },
        { path: 'all/b', sagaId: 'root.all.b', status: 'AWAITING' },
      ],
      awaitingBelow: [{ path: 'all/b', sagaId: 'root.all.b', step: 'send' }],
    });
    const end = await createDescribe({ store: saga.store, clock: saga.clock })(ROOT);
    expect(end.status).toBe('COMPENSATION_FAILED');
    expect(end.children?.map(({ path, status }) => `${path} ${status}`)).toEqual([
      'all/a COMPENSATED',
      'all/b COMPENSATION_FAILED',
      'outer COMPENSATION_FAILED',
      'outer/deep COMPENSATION_FAILED',
    ]);
    expect(end.notCompensated.map(({ step, path }) => `${path ?? 'root'} ${step}`)).toEqual([
      'root all',
      'root outer',
      'all/b send',
      'outer deep',
      'outer/deep one',
    ]);
    const text = sagaTree(end, createPaint(false));
    expect(text).toContain('  └ outer  COMPENSATION_FAILED');
    expect(text).toContain('    └ deep  COMPENSATION_FAILED');
  });

  test('verifies as a whole, and an edit in one ledger shows in the other', async () => {
    const { saga } = await run({ plan: nested });
    const ledgers = () => new Map([...saga.memory.ledger].map(([id, entries]) => [id, [...entries]]));
    expect(childIds(saga.memory.ledger.get(ROOT) ?? [])).toEqual(['root.all.a', 'root.all.b']);
    expect(verifyFamily(ledgers())).toEqual([]);
    const gone = ledgers();
    gone.delete('root.all.a');
    expect(verifyFamily(gone).map(({ where, sagaId }) => `${sagaId} ${where}`)).toEqual(['root entry 4']);
    for (const [sagaId, entries] of saga.memory.ledger) {
      const changed = ledgers();
      changed.set(
        sagaId,
        entries.map((entry) => ({ ...entry, hash: `${entry.hash.slice(1)}0` })),
      );
      expect(verifyFamily(changed).length, `an edit of ${sagaId} is seen`).toBeGreaterThan(0);
    }
  });

  test('a child that begins otherwise than its parent named it is seen before it has ended', async () => {
    const { saga } = await run({ plan: nested });
    const parent = saga.memory.ledger.get(ROOT) ?? [];
    // As it was while the child ran: nothing tells of its end, so no hash of the parent's is of its entries.
    const named = parent.slice(
      0,
      parent.findIndex(({ direction }) => direction === 'child'),
    );
    const [first, ...others] = saga.memory.ledger.get('root.all.a') ?? [];
    const beginning = (edit: object) =>
      verifyFamily(
        new Map([
          [ROOT, named],
          // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- an entry as somebody forged it
          [
            'root.all.a',
            [{ ...first, ...edit } as LedgerEntry, ...others.filter(({ direction }) => direction !== 'saga')],
          ],
        ]),
      );
    expect(beginning({})).toEqual([]);
    const where = { sagaId: 'root.all.a', where: 'entry 0' };
    for (const edit of [{ parent: undefined }, { planHash: 'x' }, { inputHash: 'x' }, { stepCount: 9 }]) {
      const [name = ''] = Object.keys(edit);
      expect(beginning(edit)).toEqual([
        { ...where, message: expect.stringContaining(`${name}: not what entry`) },
      ]);
    }
  });
});

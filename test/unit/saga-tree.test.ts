/** Trees of sagas: cancelled, killed, repaired, shown and verified. */
import { describe, expect, test } from 'vitest';
import { createPaint } from '../../cli/terminal/terminal.ts';
import { observationText, sagaTree } from '../../cli/view/saga-views.ts';
import { undoPlanLines } from '../../cli/view/undo-plan-view.ts';
import type { Observation } from '../../contract/saga-observation.ts';
import { readLedger } from '../../core/saga/entries/read-ledger.ts';
import { childIds, verifyFamily } from '../../core/saga/ledger/verify-family.ts';
import type { LedgerEntry } from '../../core/saga/model/ledger-entry.ts';
import { treePlanOf } from '../../core/saga/people/tree-plan.ts';
import { createDescribe } from '../../core/saga/view/describe.ts';
import { storiesOf } from '../../core/saga/view/stories.ts';
import {
  expectSettledTree,
  fine,
  part,
  put,
  ROOT,
  runTree,
  standingSteps,
  treeSaga,
} from '../support/tree-saga.ts';

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
      await saga.run();
      expect(calls).toBeGreaterThan(at);
      const status = expectSettledTree(saga);
      expect(status).toBe(at === 6 ? status : 'COMPENSATED');
      if (status === 'COMPENSATED') expect(standingSteps(saga)).toEqual([]);
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
    await saga.run();
    expect(expectSettledTree(saga)).toBe('COMPLETED');
    expect(saga.headOf('root.all.b').state.status).toBe('COMPENSATED');
    expect(standingSteps(saga)).toEqual(['after', 'before', 'ka']);
  });

  test('whose time is over cancels what still runs', async () => {
    const { saga, status } = await runTree({
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
    expect(standingSteps(saga)).toEqual([]);
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
    await saga.run();
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
    await saga.run();
    expect(saga.headOf(ROOT).state).toMatchObject({
      status: 'COMPENSATED',
      failure: { error: { name: 'ChildUndone' } },
    });
    expect(standingSteps(saga)).toEqual(['mine']);
    expect(saga.headOf('root.inner').state).toMatchObject({ status: 'COMPLETED' });
    expect(saga.headOf('root.inner').state.sealed).toBeUndefined();
  });

  test('that is rewound takes its children back, and runs new ones in the next epoch', async () => {
    const { saga, status } = await runTree({ plan: nested });
    expect(status).toBe('COMPLETED');
    const { rewind } = saga.machine;
    await rewind({ sagaId: ROOT, to: { stepId: 'before' }, requestId: 'r', by: 'op' });
    await saga.machine.settle();
    expect(expectSettledTree(saga)).toBe('COMPLETED');
    expect(saga.headOf('root.all.b.deep').state.status).toBe('COMPENSATED');
    expect(saga.headOf('root.all.b.E1.deep').state.status).toBe('COMPLETED');
    expect(standingSteps(saga)).toEqual(['after', 'before', 'ka', 'one', 'three', 'two']);
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
    await saga.run();
    expect(expectSettledTree(saga)).toBe('COMPLETED');
    expect(told.at(-1)).toBe('COMPLETED true');
    expect(told.slice(0, -1)).toContain('RUNNING false');
    expect(told.slice(0, -1).some((one) => one.includes('true'))).toBe(false);
  });

  test('that is undone after it was completed unwinds its sealed children', async () => {
    const { saga } = await runTree({ plan: nested });
    await saga.machine.operate({ sagaId: ROOT, action: 'undo', by: 'op' });
    await saga.machine.settle();
    expect(expectSettledTree(saga)).toBe('COMPENSATED');
    expect(standingSteps(saga)).toEqual([]);
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
    await saga.run();
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
    expect(
      end.notCompensated.map(({ children = false, idempotencyKey }) => [children, idempotencyKey]),
    ).toEqual([
      [true, undefined],
      [true, undefined],
      [false, 'root.all.b:1'],
      [true, undefined],
      [false, 'root.outer.deep:0'],
    ]);
    const text = sagaTree(end, createPaint(false));
    expect(text).toContain('  └ outer  COMPENSATION_FAILED');
    expect(text).toContain('    └ deep  COMPENSATION_FAILED');
  });

  test.each([
    ['a part of an effect', part('one'), undefined],
    ['an effect that an operator left', put('one', { stuck: true }), 'root.outer.deep'],
  ])('says of all that was undone what is left below: %s', async (_, step, skipped) => {
    const inner = { id: 'deep', saga: { plan: { steps: [step] } } };
    const saga = await treeSaga({
      plan: {
        steps: [{ id: 'outer', saga: { plan: { steps: [inner] } } }, put('after', { fail: true })],
      },
    });
    await saga.run();
    if (skipped !== undefined) {
      const operated = { action: 'skip' as const, stepId: 'one', by: 'op', evidence: 'it may stay' };
      await saga.machine.operate({ sagaId: skipped, ...operated });
      await saga.machine.settle();
    }
    const end = await createDescribe({ store: saga.store, clock: saga.clock })(ROOT);
    expect(end.status).toBe('COMPENSATED');
    expect(end.advice).toContain('undone except for what is listed');
    const below = { step: 'one', path: 'outer/deep', sagaId: 'root.outer.deep' };
    if (skipped === undefined) {
      expect(end.compensated).toContainEqual(
        expect.objectContaining({ ...below, externalRef: 'ref-one', amount: '5.00', residue: 'a fee stays' }),
      );
      expect(end.notCompensated).toEqual([]);
    } else {
      expect(end.compensated.every(({ sagaId }) => sagaId === undefined)).toBe(true);
      const reason = 'skipped by an operator: it may stay';
      expect(end.notCompensated).toMatchObject([{ ...below, reason }]);
      const head = saga.headOf(ROOT);
      const entries = await readLedger(saga.store, ROOT, head.seq);
      const plan = await treePlanOf(saga.store, ROOT, entries, storiesOf(head, entries));
      expect(plan).toMatchObject({
        undo: [],
        stands: [],
        letStand: [{ step: 'outer/deep/one', sagaId: 'root.outer.deep', reason }],
      });
    }
    expect(observationText(end, createPaint(false), 120)).toContain('of saga root.outer.deep');
  });

  test('finds what is left below, however many children there are', async () => {
    const branch = (step: number) => (_: unknown, at: number) => ({
      id: `b${at}`,
      plan: { steps: [step === 5 && at === 34 ? part('one') : put('one', { key: `k${step} ${at}` })] },
    });
    const many = Array.from({ length: 6 }, (_, step) => ({
      id: `s${step}`,
      branches: Array.from({ length: 35 }, branch(step)),
    }));
    const { saga } = await runTree({ plan: { steps: [...many, put('after', { fail: true })] } });
    const end = await createDescribe({ store: saga.store, clock: saga.clock })(ROOT);
    expect(end.children).toHaveLength(200);
    expect(end.compensated.filter(({ sagaId }) => sagaId === 'root.s5.b34')).toHaveLength(1);
    expect(end.advice).toContain('undone except for what is listed');
  });

  test('plans an undo or a rewind with all that comes back, and what comes back in part', async () => {
    const { saga } = await runTree({
      plan: {
        steps: [
          put('before'),
          {
            id: 'all',
            branches: [
              fine('a', 'ka'),
              {
                id: 'b',
                plan: { steps: [{ id: 'deep', saga: { plan: { steps: [part('q'), put('r')] } } }] },
              },
            ],
          },
        ],
      },
    });
    const { plan } = await saga.machine.operate({ sagaId: ROOT, action: 'undo', by: 'op', dryRun: true });
    const below = [
      { step: 'all/deep', sagaId: 'root.all.b', children: true, partly: true },
      { step: 'all/deep/r', sagaId: 'root.all.b.deep' },
      { step: 'all/deep/q', externalRef: 'ref-q', amount: '5.00', currency: 'EUR', partly: true },
      { step: 'all/one' },
    ];
    expect(plan?.undo).toMatchObject([
      { step: 'all', children: true, partly: true },
      ...below,
      { step: 'before' },
    ]);
    expect(plan?.undo.map(({ partly = false }) => partly)).toEqual([true, true, false, true, false, false]);
    const { rewind } = saga.machine;
    const asked = { sagaId: ROOT, to: { steps: 1 }, requestId: 'r', by: 'op' };
    const planned = await rewind({ ...asked, dryRun: true });
    expect(planned.sagas[0]?.plan.undo).toMatchObject([{ step: 'all', partly: true }, ...below]);
    expect((await rewind(asked)).sagas[0]?.plan).toEqual(planned.sagas[0]?.plan);
    const lines = undoPlanLines(planned.sagas[0]?.plan ?? { undo: [], stands: [] }, createPaint(false)).join(
      '\n',
    );
    expect(lines).toContain('all/deep/q part  ref-q  5.00 EUR  of saga root.all.b.deep  a part only');
  });

  test('verifies as a whole, and an edit in one ledger shows in the other', async () => {
    const { saga } = await runTree({ plan: nested });
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
    const { saga } = await runTree({ plan: nested });
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

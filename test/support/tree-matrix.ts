/** Trees of sagas in which something happens at every call of the store and of every tool. */
import { expect } from 'vitest';
import type { SagaRewind } from '../../contract/rewind.ts';
import type { LedgerEntry } from '../../core/saga/model/ledger-entry.ts';
import type { Plan } from '../../core/saga/model/plan.ts';
import type { SagaStore } from '../../core/saga/ports.ts';
import { ENGINE_FAULTS } from '../../kit/testing/faults.ts';
import { Crash } from '../../kit/testing/saga-machine.ts';
import { agentStep } from './tree-agent.ts';
import { expectSettledTree, put, ROOT, type TreeSaga, type TreeSagaOptions, treeSaga } from './tree-saga.ts';

/** Parent, child, grandchild and branches, with a resource that two of them share. */
const tree = (last: ReturnType<typeof put>, more: { fail?: boolean; stuck?: boolean } = {}): Plan => ({
  steps: [
    put('before', { key: 'k' }),
    {
      id: 'inner',
      saga: {
        plan: {
          steps: [
            put('child'),
            { id: 'deep', saga: { plan: { steps: [put('grandchild', more)], output: 7 } } },
          ],
          output: '{% steps.deep.result %}',
        },
      },
    },
    {
      id: 'all',
      branches: [
        { id: 'a', plan: { steps: [put('left', { key: 'k' })] } },
        { id: 'b', plan: { steps: [put('right', { key: 'k' }), put('far')] } },
      ],
    },
    last,
  ],
});

const branchFails: Plan = {
  steps: [
    put('before'),
    {
      id: 'all',
      branches: [
        { id: 'bad', plan: { steps: [put('one', { key: 'k' }), put('two', { fail: true })] } },
        { id: 'near', plan: { steps: [put('left', { key: 'k' })] } },
        { id: 'far', plan: { steps: [put('right')] } },
      ],
    },
  ],
};

/** An agent does a step, side by side with a branch on the same resource, and one inside another child. */
const withAgent = (last: ReturnType<typeof put>, givesUp = false): Plan => ({
  steps: [
    put('before', { key: 'k' }),
    agentStep('work', { steps: [put('first', { key: 'k' }), put('second')], gives: { key: 'given' } }),
    { id: 'use', tool: 'put', arguments: { key: '{% steps.work.result.key %}' } },
    {
      id: 'all',
      branches: [
        { id: 'a', plan: { steps: [agentStep('deep', { steps: [put('left', { key: 'k' })], givesUp })] } },
        { id: 'b', plan: { steps: [put('right', { key: 'k' })] } },
      ],
      onBranchFailure: 'all',
    },
    last,
  ],
});

export const SHAPES: Record<string, Plan> = {
  'all done': tree(put('last')),
  'all undone': tree(put('last', { fail: true })),
  'a grandchild fails': tree(put('last'), { fail: true }),
  'a grandchild is stuck': tree(put('last', { fail: true }), { stuck: true }),
  'a branch fails': branchFails,
  'an agent does steps': withAgent(put('last')),
  'what an agent did is undone': withAgent(put('last', { fail: true })),
  'an agent gives up': withAgent(put('last'), true),
};

/** How each ends when something only dies on the way. */
const ENDS: Partial<Record<string, string>> = {
  'all done': 'COMPLETED',
  'a branch fails': 'COMPLETED',
  'an agent does steps': 'COMPLETED',
  'a grandchild is stuck': 'COMPENSATION_FAILED',
};

const METHODS = [
  'getHead',
  'putPinned',
  'putInput',
  'createSaga',
  'append',
  'getEntry',
  'listEntries',
  'pageEntries',
  'getSubmittedStep',
  'putToken',
  'getToken',
] as const satisfies (keyof SagaStore)[];

/** Acts before or after the nth call of the store. */
const atCall = (
  store: SagaStore,
  act: (call: number, when: 'before' | 'after') => Promise<void>,
): SagaStore => {
  let calls = 0;
  const wrapped = { ...store };
  for (const name of METHODS) {
    const method = store[name] as (...given: unknown[]) => Promise<unknown>;
    const acting = async (...given: unknown[]): Promise<unknown> => {
      calls += 1;
      const mine = calls;
      await act(mine, 'before');
      const answer = await method(...given);
      await act(mine, 'after');
      return answer;
    };
    Object.assign(wrapped, { [name]: acting });
  }
  return wrapped;
};

/** Starting is repeated, as a caller does that got no answer. */
const start = async (saga: TreeSaga): Promise<void> => {
  try {
    await saga.start();
  } catch (error) {
    if (!(error instanceof Crash)) throw error;
    await saga.start();
  }
};

const failed = (saga: TreeSaga): string[] =>
  [...saga.memory.heads]
    .filter(
      ([, { state }]) =>
        state.status === 'COMPENSATION_FAILED' &&
        state.effects.some(({ status, children }) => status === 'undo_failed' && children !== true),
    )
    .map(([sagaId]) => sagaId);

/** What is stuck can be undone now, and an operator says so at the leaf: then nothing is left. */
const repair = async (saga: TreeSaga): Promise<void> => {
  saga.provider.freeAll();
  for (const sagaId of failed(saga)) {
    const retry = () => saga.machine.operate({ sagaId, action: 'retry', by: 'op' });
    await retry().catch(async (error: unknown) => {
      if (!(error instanceof Crash)) throw error;
      // Who gets no answer asks again, and is told so when the first one was heard.
      await retry().catch((again: unknown) => {
        if (!(again instanceof Error && again.name === 'OperationRefused')) throw again;
      });
    });
  }
  await saga.machine.settle();
  expect(expectSettledTree(saga)).toBe('COMPENSATED');
  expect([...saga.provider.standing]).toEqual([]);
};

/** In each saga, compensators begin in reverse order of start, once each on every way back. */
const expectUndoOrder = (saga: TreeSaga): void => {
  for (const entries of saga.memory.ledger.values()) {
    let round: number[] = [];
    const isNewRound = ({ direction, status }: LedgerEntry) =>
      direction === 'operator' ||
      (direction === 'child' && status === 'settled') ||
      ['unwinding', 'rewind_requested', 'undo_requested', 'unwind_requested'].includes(status);
    for (const entry of entries) {
      if (isNewRound(entry) && entry.direction !== 'child') round = [];
      if (entry.direction === 'child' && entry.status === 'settled') round = [];
      if (entry.direction !== 'undo' || entry.status !== 'started' || entry.attempt !== 1) continue;
      expect(
        round.every((step) => step > entry.stepIndex),
        'reverse order of start',
      ).toBe(true);
      round.push(entry.stepIndex);
    }
  }
};

const runTree = async (options: TreeSagaOptions): Promise<{ saga: TreeSaga; status: string }> => {
  const saga = await treeSaga(options);
  await start(saga);
  await saga.machine.settle();
  const status = expectSettledTree(saga);
  expectUndoOrder(saga);
  return { saga, status };
};

/** How many calls of the store a tree makes when nothing happens to it. */
export const callsOf = async (plan: Plan): Promise<number> => {
  let last = 0;
  await runTree({
    plan,
    storing: (store) =>
      atCall(store, async (call) => {
        last = Math.max(last, call);
      }),
  });
  return last;
};

export type Deed = 'dies before' | 'dies after' | 'is cancelled' | 'is rewound';

const rewind = (saga: TreeSaga, to: SagaRewind['to']) =>
  saga.machine.rewind({
    sagaId: ROOT,
    to,
    requestId: 'rw',
    acceptResidue: true,
    reason: 'it may stay',
    by: 'rita',
  });

/** What a person does. There may be nothing to do it to any more, or not yet. */
const act = async (saga: TreeSaga, deed: 'is cancelled' | 'is rewound'): Promise<void> => {
  if (saga.headOf(ROOT).state.status === 'COMPLETED' && deed === 'is cancelled') return;
  const asked =
    deed === 'is cancelled'
      ? saga.machine.operate({ sagaId: ROOT, action: 'cancel', by: 'op' })
      : rewind(saga, { steps: 1 });
  await asked.catch((error: unknown) => {
    if (deed === 'is cancelled') throw error;
    expect(error).toMatchObject({ name: expect.stringMatching(/^(?:OperationRefused|InvalidInput)$/) });
  });
};

/** What a step left is there once, whatever epoch it is of. */
const expectNoneTwice = (saga: TreeSaga): void => {
  const steps = [...saga.provider.standing.keys()].map((key) => key.replaceAll(/\.E\d+|@\d+$/g, ''));
  expect(steps.toSorted()).toEqual([...new Set(steps)].toSorted());
};

/** The tree is done with whatever happens at this call of the store. */
export const testAtCall = async (shape: string, plan: Plan, call: number, deed: Deed): Promise<void> => {
  let acted = false;
  const saga = await treeSaga({
    plan,
    storing: (store) =>
      atCall(store, async (now, when) => {
        if (acted || now < call || when !== (deed === 'dies before' ? 'before' : 'after')) return;
        const isDeath = deed === 'dies before' || deed === 'dies after';
        if (!isDeath && !saga.memory.heads.has(ROOT)) return;
        acted = true;
        if (isDeath) throw new Crash(`at call ${call}`);
        await act(saga, deed);
      }),
  });
  await start(saga);
  await saga.machine.settle();
  expect(acted, `something happened at call ${call}`).toBe(true);
  const status = expectSettledTree(saga);
  expectUndoOrder(saga);
  expectNoneTwice(saga);
  if (deed === 'dies before' || deed === 'dies after') {
    expect(status).toBe(ENDS[shape] ?? 'COMPENSATED');
  }
  if (status === 'COMPENSATED') expect([...saga.provider.standing]).toEqual([]);
  if (status === 'COMPENSATION_FAILED') await repair(saga);
};

export type Way = 'is undone' | 'is rewound';

/** A completed tree is taken back, as a whole or to its first step, and something dies at this call of the store on the way. */
export const testOnTheWayBack = async (way: Way, call: number): Promise<boolean> => {
  let last = 0;
  let from = Number.POSITIVE_INFINITY;
  let died = false;
  const saga = await treeSaga({
    plan: tree(put('last')),
    storing: (store) =>
      atCall(store, async (now, when) => {
        last = Math.max(last, now);
        if (now !== from + call || (when === 'before') !== (call % 2 === 0)) return;
        died = true;
        throw new Crash(`at call ${call}`);
      }),
  });
  await start(saga);
  await saga.machine.settle();
  expect(saga.headOf(ROOT).state.status).toBe('COMPLETED');
  from = last;
  const ask = () =>
    way === 'is undone'
      ? saga.machine.operate({ sagaId: ROOT, action: 'undo', by: 'op' })
      : rewind(saga, { stepId: 'before' });
  await ask().catch(async (error: unknown) => {
    if (!(error instanceof Crash)) throw error;
    await ask();
  });
  await saga.machine.settle();
  expect(expectSettledTree(saga)).toBe(way === 'is undone' ? 'COMPENSATED' : 'COMPLETED');
  expectUndoOrder(saga);
  expectNoneTwice(saga);
  expect(saga.provider.standing.size).toBe(way === 'is undone' ? 0 : 7);
  if (way === 'is rewound') expect(saga.headOf(ROOT).state.epoch).toBe(1);
  return died;
};

const STEPS = ['before', 'child', 'grandchild', 'left', 'right', 'far'];

/** Every failure at every step of every level, on the way forward and back. */
export const faultCases = STEPS.flatMap((step) =>
  (['execute', 'compensate'] as const).flatMap((operation) =>
    Object.entries(ENGINE_FAULTS).flatMap(([name, faultAt]) =>
      [false, true].map((replay) => ({ step, operation, name, faultAt, replay })),
    ),
  ),
);

/** It is still there when an operator retries. */
const isLasting = (name: string): boolean => name.includes('every');

export const testFault = async ({
  step,
  operation,
  name,
  faultAt,
  replay,
}: (typeof faultCases)[number]): Promise<void> => {
  const plan = tree(put('last', { fail: operation === 'compensate' }));
  const { saga, status } = await runTree({ plan, replay, ...faultAt({ step, operation }) });
  if (status === 'COMPENSATED') expect([...saga.provider.standing]).toEqual([]);
  if (status === 'COMPENSATION_FAILED' && !isLasting(name)) await repair(saga);
};

export interface Happening {
  call: number;
  deed: Deed;
}

const afterWrite = (store: SagaStore, look: () => Promise<void>): SagaStore => ({
  ...store,
  append: async (...given) => {
    const outcome = await store.append(...given);
    await look();
    return outcome;
  },
});

/** A tree to which several things happen, each at its call of the store. `look` looks at it after each write. */
export const runRandomTree = async (
  plan: Plan,
  happenings: readonly Happening[],
  replay: boolean,
  look: (saga: TreeSaga) => Promise<void> = async () => {},
): Promise<void> => {
  const open = [...happenings];
  const saga = await treeSaga({
    plan,
    replay,
    storing: (store) =>
      atCall(
        afterWrite(store, () => look(saga)),
        async (now, when) => {
          const at = open.findIndex(
            ({ call, deed }) => call <= now && (deed === 'dies before') === (when === 'before'),
          );
          const [found] = at === -1 ? [] : open.splice(at, 1);
          if (found === undefined) return;
          if (found.deed !== 'is cancelled' && found.deed !== 'is rewound')
            throw new Crash(`at call ${found.call}`);
          const status = saga.memory.heads.get(ROOT)?.state.status;
          if (status === undefined || status === 'COMPLETED') return;
          await saga.machine.operate({ sagaId: ROOT, action: 'cancel', by: 'op' }).catch((error: unknown) => {
            // It has ended meanwhile, or this call is the one at which something else dies.
            if (!(error instanceof Error && /OperationRefused|Crash/.test(error.name))) throw error;
          });
        },
      ),
  });
  for (let tries = 0; tries <= happenings.length; tries += 1) {
    try {
      await saga.start();
      break;
    } catch (error) {
      if (!(error instanceof Crash)) throw error;
    }
  }
  await saga.machine.settle();
  const status = expectSettledTree(saga);
  expectUndoOrder(saga);
  if (status === 'COMPENSATED') expect([...saga.provider.standing]).toEqual([]);
  if (status === 'COMPENSATION_FAILED') await repair(saga);
};

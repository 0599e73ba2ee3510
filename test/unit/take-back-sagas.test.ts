/** Many sagas of a session that are taken back one after the other, by one call that looks again and again. */
import { expect, test } from 'vitest';
import { takeBackSagas } from '../../core/rewind/take-back-sagas.ts';
import { createCounter } from '../support/fakes/faults.ts';
import { committed, scriptedSaga, scriptedTool } from '../support/scripted-saga.ts';

const SESSION = 'session';

const made = async (count: number) => {
  const saga = await scriptedSaga({
    tools: [scriptedTool('look', 'read'), scriptedTool('pay', 'compensatable')],
    answer: () => committed(),
  });
  const { machine } = saga;
  const start = async (sagaId: string, tool = 'pay') => {
    const plan = { steps: [{ id: tool, tool, arguments: {} }] };
    await machine.start({ sagaId, sessionId: SESSION, messageId: 'm2', plan, input: {}, requestedBy: 'me' });
    await machine.settle();
  };
  await start('reads', 'look');
  for (let n = 0; n < count; n += 1) await start(`g${n}`);
  const reads: string[] = [];
  const store = createCounter().wrap('sagas', saga.store);
  const counted = new Proxy(store, {
    get: (target, name, receiver) => {
      reads.push(String(name));
      return Reflect.get(target, name, receiver);
    },
  });
  /** `meanwhile`: between two looks; it is given how many there were. */
  const takeBack = async (meanwhile: (looks: number) => Promise<void> = async () => undefined) => {
    let looks = 0;
    const sleep = async () => {
      await machine.settle();
      looks += 1;
      await meanwhile(looks);
    };
    return takeBackSagas(
      { store: counted, engine: machine.engine, clock: { ...saga.clock, sleep } },
      {
        sessionId: SESSION,
        requestId: 'rw',
        isAfter: () => true,
        isThrough: async () => false,
        acceptResidue: false,
        by: 'rita',
      },
      1_000_000,
    );
  };
  const undone = () =>
    saga.requests.filter(({ operation }) => operation === 'compensate').map(({ sagaId }) => sagaId);
  return {
    saga,
    start,
    takeBack,
    undone,
    readsOf: (name: string) => reads.filter((one) => one === name).length,
  };
};

test('what is at rest is not read at each look', async () => {
  const COUNT = 60;
  const { takeBack, undone, readsOf } = await made(COUNT);
  expect(await takeBack()).toBe('done');
  expect(undone()).toEqual(Array.from({ length: COUNT }, (_, n) => `g${COUNT - 1 - n}`));
  expect(readsOf('getHead')).toBeLessThan(5 * COUNT);
});

test('what people or late agents do meanwhile to sagas that are at rest is taken back too', async () => {
  const { saga, start, takeBack, undone } = await made(6);
  const { machine } = saga;
  const doing: Record<number, () => Promise<unknown>> = {
    // Its turn comes later. It goes on in another epoch then.
    1: () => machine.rewind({ sagaId: 'g1', to: { steps: 1 }, requestId: 'other', by: 'ada' }),
    2: () => machine.operate({ sagaId: 'g0', action: 'undo', by: 'ada' }),
    // Nothing of it was left to take back.
    3: () =>
      machine.rewind({
        sagaId: 'reads',
        to: { steps: 1 },
        plan: { steps: [{ id: 'pay', tool: 'pay', arguments: {} }] },
        requestId: 'other',
        by: 'ada',
      }),
    4: () => start('late'),
  };
  const taken = await takeBack(async (looks) => {
    await doing[looks]?.();
    await machine.settle();
  });
  expect(taken).toBe('done');
  for (const sagaId of ['reads', 'late', 'g0', 'g1', 'g2', 'g3', 'g4', 'g5']) {
    expect((await saga.store.getHead(sagaId))?.state.status, sagaId).toBe('COMPENSATED');
  }
  expect(undone().toSorted()).toEqual(['g0', 'g1', 'g1', 'g2', 'g3', 'g4', 'g5', 'late', 'reads']);
});

/** The undo of a saga that was completed (S1 to S12 hold on that way back too). */
import { describe, expect, test } from 'vitest';
import { Crash } from '../../kit/testing/saga-machine.ts';
import { errorOf } from '../support/error-of.ts';
import { expectInvariants, refundSaga, SAGA_ID } from '../support/refund-saga.ts';
import { committed, rejected, SAGA, scriptedSaga, scriptedTool } from '../support/scripted-saga.ts';

const undo = { sagaId: SAGA, action: 'undo', by: 'ada' } as const;

const finished = async (answer: Parameters<typeof scriptedSaga>[0]['answer'] = () => committed()) => {
  const saga = await scriptedSaga({
    tools: [
      scriptedTool('look', 'read'),
      scriptedTool('pay', 'compensatable'),
      scriptedTool('book', 'partial'),
    ],
    answer,
  });
  await saga.run();
  expect((await saga.seen()).state.status).toBe('COMPLETED');
  return saga;
};

describe('undo of a completed saga', () => {
  test('takes back every effect in reverse order, and says who asked and why', async () => {
    const saga = await finished();
    const answer = await saga.machine.operate({ ...undo, evidence: 'wrong customer' });
    expect(answer).toMatchObject({
      status: 'COMPENSATING',
      plan: { undo: [{ step: 'book' }, { step: 'pay' }] },
    });
    await saga.machine.settle();
    const { state, observation } = await saga.sound();
    expect(state.status).toBe('COMPENSATED');
    expect(observation.compensated.map(({ step }) => step)).toEqual(['pay', 'book']);
    expect(observation.failed).toMatchObject({
      error: { name: 'Undone' },
      by: 'ada',
      reason: 'wrong customer',
    });
    expect(observation.advice).toContain('undone');
    expect(saga.requests.map(({ operation, step }) => `${operation} ${step}`)).toEqual([
      'execute look',
      'execute pay',
      'execute book',
      'compensate book',
      'compensate pay',
    ]);
  });

  test('a dry run answers the plan and changes nothing', async () => {
    const saga = await finished();
    const before = await saga.seen();
    const { plan, status } = await saga.machine.operate({ ...undo, dryRun: true });
    expect(status).toBe('COMPLETED');
    expect(plan).toEqual({
      undo: [
        { step: 'book', tool: 'book', externalRef: null, partly: true },
        { step: 'pay', tool: 'pay', externalRef: null },
      ],
      stands: [],
    });
    expect((await saga.seen()).head).toEqual(before.head);
  });

  test('asked twice it is one, also when the first call died before it was answered', async () => {
    const saga = await finished();
    await Promise.all([saga.machine.operate(undo), saga.machine.operate(undo)]);
    await saga.machine.operate(undo);
    await saga.machine.settle();
    await saga.machine.operate(undo);
    await saga.machine.settle();
    const { story, state } = await saga.seen();
    expect(state.status).toBe('COMPENSATED');
    expect(story.filter((entry) => entry === 'saga undo_requested')).toHaveLength(1);
    expect(saga.requests.filter(({ operation }) => operation === 'compensate')).toHaveLength(2);
  });

  test('of a saga that runs, was undone or failed to be, is refused by name', async () => {
    const saga = await scriptedSaga({
      tools: [scriptedTool('pay', 'compensatable'), scriptedTool('fail', 'read')],
      answer: async ({ step }) => {
        if (step === 'pay') {
          await expect(saga.machine.operate(undo)).rejects.toMatchObject({ name: 'OperationRefused' });
          return committed();
        }
        return rejected();
      },
    });
    await saga.run();
    expect((await saga.seen()).state.status).toBe('COMPENSATED');
    await expect(saga.machine.operate(undo)).rejects.toMatchObject({ name: 'OperationRefused' });
    await expect(saga.machine.operate({ ...undo, action: 'retry', dryRun: true })).rejects.toMatchObject({
      name: 'InvalidInput',
    });
  });

  test.each(['undo', 'cancel', 'resume', 'break-lock'] as const)(
    '%s of one step is refused: it is about the whole saga',
    async (action) => {
      const saga = await scriptedSaga({
        tools: [scriptedTool('pay', 'compensatable')],
        answer: () => committed(),
      });
      await saga.run();
      const lock = action === 'break-lock' ? { resourceKey: 'r', evidence: 'e' } : {};
      await expect(saga.machine.operate({ ...undo, ...lock, action, stepId: 'pay' })).rejects.toMatchObject(
        errorOf('InvalidInput', 'stepId: '),
      );
      expect((await saga.seen()).state.status).toBe('COMPLETED');
    },
  );

  test('a compensator that fails then is repaired by an operator, like any other', async () => {
    let broken = true;
    const saga = await finished(({ operation, step }) =>
      operation === 'compensate' && step === 'book' && broken ? rejected() : committed(),
    );
    await saga.machine.operate(undo);
    await saga.machine.settle();
    const stopped = await saga.seen();
    expect(stopped.state.status).toBe('COMPENSATION_FAILED');
    expect(stopped.observation.notCompensated).toMatchObject([{ step: 'book' }]);
    expect(saga.machine.alerts).toHaveLength(1);
    broken = false;
    await saga.machine.operate({ sagaId: SAGA, action: 'retry', by: 'fin' });
    await saga.machine.settle();
    expect((await saga.seen()).state.status).toBe('COMPENSATED');
    expect((await saga.seen()).isSound).toBe(true);
  });

  test('what nothing takes back refuses it before anything is written, unless it is accepted', async () => {
    const saga = await refundSaga();
    await saga.run();
    const request = { ...undo, sagaId: SAGA_ID };
    const before = await saga.seen();
    await expect(saga.machine.operate(request)).rejects.toMatchObject(errorOf('PointOfNoReturn', 'confirm'));
    expect((await saga.seen()).head).toEqual(before.head);
    await saga.machine.operate({ ...request, acceptResidue: true, evidence: 'it may stay' });
    await saga.machine.settle();
    expect(await expectInvariants(saga)).toBe('COMPENSATED');
    const { observation } = await saga.seen();
    expect(observation.notCompensated).toMatchObject([
      { step: 'confirm', reason: expect.stringMatching(/accepted/) },
    ]);
    expect(observation.advice).toContain('except for what is listed');
  });

  test.each(['before', 'after'] as const)(
    'the caller dies %s it is recorded; asked again, it is done',
    async (when) => {
      const saga = await finished();
      const original = { ...saga.store };
      saga.store.append = async (...move) => {
        Object.assign(saga.store, original);
        if (when === 'before') throw new Crash('before');
        await original.append(...move);
        throw new Crash('after');
      };
      await expect(saga.machine.operate(undo)).rejects.toBeInstanceOf(Crash);
      await saga.machine.operate(undo);
      await saga.machine.settle();
      expect((await saga.seen()).state.status).toBe('COMPENSATED');
    },
  );

  test('what a rewind added since it was looked at is looked at first', async () => {
    const tools = [scriptedTool('pay', 'compensatable'), scriptedTool('mail', 'irreversible')];
    const saga = await scriptedSaga({
      tools,
      steps: [{ id: 'pay', tool: 'pay', arguments: {} }],
      answer: () => committed(),
    });
    await saga.run();
    const original = { ...saga.store };
    saga.store.pageEntries = async (...asked) => {
      Object.assign(saga.store, original);
      const page = await original.pageEntries(...asked);
      const plan = { steps: [{ id: 'mail', tool: 'mail', arguments: {} }] };
      await saga.machine.rewind({ sagaId: SAGA, requestId: 'r', to: { stepId: 'pay' }, plan, by: 'fin' });
      await saga.machine.settle();
      return page;
    };
    await expect(saga.machine.operate(undo)).rejects.toMatchObject(errorOf('PointOfNoReturn', 'mail'));
    const { state, story, isSound } = await saga.seen();
    expect([state.status, isSound]).toEqual(['COMPLETED', true]);
    expect(story).not.toContain('saga undo_requested');
    // Who accepts it is told the plan of what is done.
    const { plan } = await saga.machine.operate({ ...undo, acceptResidue: true, evidence: 'it may stay' });
    expect(plan).toMatchObject({ undo: [{ step: 'pay' }], stands: [{ step: 'mail' }] });
  });

  test('a saga that moves whenever it is looked at is undone later, and nothing is written', async () => {
    const saga = await finished();
    const original = { ...saga.store };
    let looks = 0;
    saga.store.getHead = async (sagaId) => {
      const head = await original.getHead(sagaId);
      looks += 1;
      return head === undefined || looks % 2 === 1 ? head : { ...head, version: head.version + 1 };
    };
    await expect(saga.machine.operate(undo)).rejects.toMatchObject({ name: 'Throttled', retryable: true });
    Object.assign(saga.store, original);
    expect((await saga.seen()).story).not.toContain('saga undo_requested');
  });
});

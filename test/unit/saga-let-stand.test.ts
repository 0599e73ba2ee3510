/** What somebody let stand, and took back by hand later: it is recorded, and nothing else moves. */
import { expect, test } from 'vitest';
import type { Asked } from '../../contract/identity.ts';
import type { OperateSagaInput } from '../../contract/saga-inputs.ts';
import { effectsCsv } from '../../core/saga/ledger/csv.ts';
import { createSagaEffects } from '../../core/saga/ledger/effect-rows.ts';
import { errorOf } from '../support/error-of.ts';
import { committed, rejected, SAGA, scriptedSaga, scriptedTool } from '../support/scripted-saga.ts';
import { expectSoundTree, put, runTree } from '../support/tree-saga.ts';

const TOOLS = [scriptedTool('pay', 'compensatable'), scriptedTool('mail', 'irreversible')];

const operation = (
  action: OperateSagaInput['action'],
  stepId: string,
  evidence?: string,
): Asked<OperateSagaInput> => ({
  sagaId: SAGA,
  action,
  stepId,
  by: 'olga',
  ...(evidence !== undefined && { evidence }),
});

type Saga = Awaited<ReturnType<typeof scriptedSaga>>;

/** A completed saga of `pay` and `mail`. */
const mailed = async (): Promise<Saga> => {
  const saga = await scriptedSaga({ tools: TOOLS, answer: () => committed() });
  await saga.run();
  return saga;
};

/** Takes the mail back over what stays of it. */
const rewindToPay = async ({ machine }: Saga, requestId: string): Promise<void> => {
  const accepted = { acceptResidue: true, reason: 'it may stay', by: 'rita' };
  await machine.rewind({ sagaId: SAGA, to: { stepId: 'pay' }, requestId, ...accepted });
  await machine.settle();
};

type Way = 'undo' | 'rewind';

/** Takes `mailed` back, over the mail. */
const over = ({ machine }: Saga, way: Way, reason?: string) =>
  way === 'undo'
    ? machine.operate({
        sagaId: SAGA,
        action: 'undo',
        by: 'rita',
        acceptResidue: true,
        ...(reason !== undefined && { evidence: reason }),
      })
    : machine.rewind({
        sagaId: SAGA,
        to: { steps: 2 },
        requestId: 'r',
        by: 'rita',
        acceptResidue: true,
        ...(reason !== undefined && { reason }),
      });

const rowOf = async (saga: Saga, step: string) => {
  const effects = createSagaEffects();
  for (const entry of (await saga.seen()).entries) effects.add(entry);
  return effects.end().committed.find(({ row }) => row.step === step)?.row;
};

test.each<Way>(['undo', 'rewind'])(
  'an effect that an %s accepts has a row that says who let it stand, when and why',
  async (way) => {
    const saga = await mailed();
    await over(saga, way, 'the customer has read it');
    await saga.machine.settle();
    const { entries, observation } = await saga.sound();
    const asked = entries.find(({ status }) => status === 'undo_requested' || status === 'rewind_requested');
    expect(await rowOf(saga, 'mail')).toMatchObject({
      epoch: 0,
      status: 'accepted',
      undone_at: asked?.at,
      undone_seq: asked?.seq,
      undone_by: 'rita',
      undone_by_proof: 'claimed',
      undone_amount: null,
      evidence: 'the customer has read it',
    });
    expect(observation.notCompensated).toMatchObject([
      { step: 'mail', accepted: true, reason: expect.stringMatching(/by rita.*: the customer has read it/) },
    ]);
  },
);

test('what a rewind accepts stands undecided until it ends, and when it is given up', async () => {
  const saga = await scriptedSaga({
    tools: TOOLS,
    answer: async ({ operation: asked }) => {
      if (asked !== 'compensate') return committed();
      expect(await rowOf(saga, 'mail')).toMatchObject({ status: 'stands', evidence: null });
      await saga.machine.operate({ sagaId: SAGA, action: 'cancel', by: 'olga' });
      return committed();
    },
  });
  await saga.run();
  await over(saga, 'rewind', 'it may stay');
  await saga.machine.settle();
  expect((await saga.seen()).state.status).toBe('COMPENSATION_FAILED');
  expect(await rowOf(saga, 'mail')).toMatchObject({ status: 'stands', evidence: null });
});

test.each<Way>(['undo', 'rewind'])('nothing is accepted by an %s without a reason', async (way) => {
  const saga = await mailed();
  const before = await saga.seen();
  for (const reason of [undefined, '', '  ']) {
    await expect(over(saga, way, reason)).rejects.toMatchObject(
      errorOf('InvalidInput', /^(evidence|reason): acceptResidue needs a reason/),
    );
  }
  expect((await saga.seen()).head).toEqual(before.head);
});

const skipped = async () => {
  const saga = await scriptedSaga({
    tools: [scriptedTool('pay', 'compensatable'), scriptedTool('last', 'compensatable')],
    answer: ({ step, operation: asked }) =>
      step === 'last' || asked === 'compensate' ? rejected() : committed(),
  });
  await saga.run();
  await saga.machine.operate(operation('skip', 'pay', 'the customer keeps it'));
  await saga.machine.settle();
  expect((await saga.seen()).state.status).toBe('COMPENSATED');
  return saga;
};

test('what was skipped is resolved later, once, and the saga stays as it ended', async () => {
  const saga = await skipped();
  const before = await saga.seen();
  const request = operation('resolve', 'pay', 'refund re_7, by hand');
  for (const _ of [1, 2]) {
    expect(await saga.machine.operate(request)).toMatchObject({ status: 'COMPENSATED' });
    await saga.machine.settle();
  }
  const { entries, observation, state } = await saga.sound();
  expect(entries).toHaveLength(before.entries.length + 1);
  expect(state).toMatchObject({ status: 'COMPENSATED', generation: before.state.generation });
  expect(observation.notCompensated).toEqual([]);
  expect(observation.compensated).toMatchObject([{ step: 'pay', byHand: 'refund re_7, by hand' }]);
  expect(await rowOf(saga, 'pay')).toMatchObject({ status: 'resolved', evidence: 'refund re_7, by hand' });
});

test('the row says whether who decided it proved who they are', async () => {
  const saga = await skipped();
  expect(await rowOf(saga, 'pay')).toMatchObject({ undone_by: 'olga', undone_by_proof: 'claimed' });
  expect(await rowOf(saga, 'last')).toBeUndefined();
  const person = { iss: 'https://id.example', sub: 'u-7', email: 'olga@example.com' };
  const by = { name: 'olga@example.com', person };
  await saga.machine.operate({ ...operation('resolve', 'pay', 'refund re_7'), by });
  const row = await rowOf(saga, 'pay');
  expect(row).toMatchObject({ undone_by: 'olga@example.com', undone_by_proof: 'https://id.example u-7' });
  const [head = '', line = ''] = effectsCsv(row === undefined ? [] : [row]).split('\r\n');
  expect(line.split(',')[head.split(',').indexOf('undone_by_proof')]).toBe('"https://id.example u-7"');
});

test('what a compensator of Walkback took back needs no proof', async () => {
  const saga = await mailed();
  await over(saga, 'undo', 'it may stay');
  await saga.machine.settle();
  expect(await rowOf(saga, 'pay')).toMatchObject({ undone_by: 'engine', undone_by_proof: null });
});

test('its compensator is not called again, and the refusal names what can be done', async () => {
  const saga = await skipped();
  await expect(saga.machine.operate(operation('retry', 'pay'))).rejects.toMatchObject(
    errorOf('OperationRefused', `walkback saga resolve ${SAGA} pay --evidence`),
  );
});

test('what a rewind left is resolved while the saga goes forward, and does not hold it up', async () => {
  const saga = await scriptedSaga({
    tools: TOOLS,
    answer: async ({ step, forwardKey }) => {
      if (step === 'mail' && forwardKey.endsWith('@1')) {
        const before = await saga.seen();
        expect(before.state.status).toBe('RUNNING');
        expect(before.observation.notCompensated).toMatchObject([{ step: 'mail', accepted: true }]);
        await saga.machine.operate(operation('resolve', 'mail', 'called them'));
        const { state } = await saga.seen();
        expect({ ...state, effects: [] }).toEqual({ ...before.state, effects: [] });
      }
      return committed();
    },
  });
  await saga.run();
  await rewindToPay(saga, 'r');
  const { state, observation } = await saga.sound();
  expect(state.status).toBe('COMPLETED');
  expect(observation).toMatchObject({
    notCompensated: [],
    compensated: [{ step: 'mail', byHand: 'called them' }],
  });
  expect(await rowOf(saga, 'mail')).toMatchObject({ epoch: 0, status: 'resolved', evidence: 'called them' });
});

test('of a step that was let stand twice, each is resolved with its own evidence', async () => {
  const saga = await mailed();
  await rewindToPay(saga, 'one');
  await saga.machine.operate(operation('resolve', 'mail', 'called them'));
  await rewindToPay(saga, 'two');
  for (const [evidence, left] of [
    ['called them', 1],
    ['called again', 0],
    ['called again', 0],
  ] as const) {
    await saga.machine.operate(operation('resolve', 'mail', evidence));
    const { observation } = await saga.sound();
    expect(observation.notCompensated).toHaveLength(left);
  }
  expect((await saga.seen()).observation.compensated.map(({ byHand }) => byHand)).toEqual([
    'called them',
    'called again',
  ]);
});

test('of a step that was let stand twice, one is resolved by its epoch, and the other stays', async () => {
  const saga = await mailed();
  for (const requestId of ['one', 'two']) await rewindToPay(saga, requestId);
  const request = { ...operation('resolve', 'mail', 'recalled the second'), epoch: 1 };
  for (const _ of [1, 2]) await saga.machine.operate(request);
  const { observation } = await saga.sound();
  expect(observation.compensated).toMatchObject([{ step: 'mail', epoch: 1, byHand: 'recalled the second' }]);
  expect(observation.notCompensated).toHaveLength(1);
  expect(observation.notCompensated[0]).not.toHaveProperty('epoch');
  await expect(saga.machine.operate({ ...request, epoch: 7 })).rejects.toMatchObject({
    name: 'StepNotFound',
  });
  const { stepId: _, ...nameless } = request;
  await expect(saga.machine.operate({ ...nameless, action: 'retry' })).rejects.toMatchObject({
    name: 'InvalidInput',
  });
  await saga.machine.operate({ ...request, evidence: 'called them', epoch: 0 });
  expect((await saga.seen()).observation.notCompensated).toEqual([]);
});

test('what was skipped in a child is resolved there, and nothing above it moves', async () => {
  const stuck = put('one', { stuck: true });
  const { saga } = await runTree({
    plan: { steps: [{ id: 'inner', saga: { plan: { steps: [stuck, put('two', { fail: true })] } } }] },
  });
  const asked = { sagaId: 'root.inner', stepId: 'one', by: 'olga', evidence: 'by hand' };
  await saga.machine.operate({ ...asked, action: 'skip' });
  await saga.machine.settle();
  expect(saga.headOf('root').state.status).toBe('COMPENSATED');
  const above = saga.headOf('root');
  expect(await saga.machine.operate({ ...asked, action: 'resolve' })).toMatchObject({
    status: 'COMPENSATED',
  });
  await saga.machine.settle();
  expect(saga.headOf('root')).toEqual(above);
  expectSoundTree(saga);
});

/** Who lets stand what nothing takes back accepts what the plan named, and not what came since. */
import { describe, expect, test } from 'vitest';
import { SESSION } from '../support/fakes/stage.ts';
import { committed, scriptedSaga, scriptedTool } from '../support/scripted-saga.ts';
import { rewindStage } from '../support/session-rewind.ts';

const step = (id: string) => ({ id, tool: id, arguments: {} });

describe('of one saga', () => {
  const completed = async () => {
    const saga = await scriptedSaga({
      tools: [
        scriptedTool('pay', 'compensatable'),
        scriptedTool('mail', 'irreversible'),
        scriptedTool('wire', 'irreversible'),
      ],
      answer: () => committed(),
    });
    const { machine } = saga;
    await machine.start({
      sagaId: 's',
      plan: { steps: [step('pay'), step('mail')] },
      input: {},
      requestedBy: 'me',
    });
    await machine.settle();
    /** Somebody sends it on, so that something else stands than in the plan. */
    const wireToo = async () => {
      const to = { stepId: 'mail' };
      await machine.rewind({ sagaId: 's', to, requestId: 'on', plan: { steps: [step('wire')] }, by: 'fin' });
      await machine.settle();
    };
    const head = async () => (await saga.store.getHead('s')) ?? expect.unreachable('no head');
    return { saga, machine, wireToo, head };
  };

  test.each(['undo', 'rewind'] as const)('%s', async (way) => {
    const { machine, wireToo, head } = await completed();
    const undo = (more: object) => machine.operate({ sagaId: 's', action: 'undo', by: 'olga', ...more });
    const rewind = async (more: object) => {
      const asked = { sagaId: 's', to: { steps: 2 }, requestId: 'back', by: 'olga', ...more };
      const { sagas, ...answer } = await machine.rewind(asked);
      return { ...answer, plan: sagas[0]?.plan };
    };
    const act = way === 'undo' ? undo : rewind;
    const why = way === 'undo' ? { evidence: 'it may stay' } : { reason: 'it may stay' };
    const accepted = { acceptResidue: true, ...why };
    const { residue, plan } = await act({ dryRun: true });
    expect(plan?.stands).toMatchObject([{ step: 'mail' }]);
    expect((await act({ dryRun: true })).residue).toBe(residue);
    await wireToo();
    const { version } = await head();
    await expect(act({ ...accepted, residue })).rejects.toMatchObject({
      name: 'ResidueChanged',
      message: expect.stringContaining('wire of saga s (wire, ref '),
    });
    expect((await head()).version).toBe(version);
    const again = await act({ dryRun: true });
    expect(again.residue).not.toBe(residue);
    await act({ ...accepted, residue: again.residue });
    await machine.settle();
    expect((await head()).version).toBeGreaterThan(version);
  });
});

describe('of a session', () => {
  test('a plan in which something else stands by now is refused before anything is written', async () => {
    const session = await rewindStage({ mailed: true });
    const { residue, epoch } = await session.rewind({ dryRun: true });
    await session.start('late', 'm2', ['mail']);
    await session.machine.settle();
    const asked = { acceptResidue: true, reason: 'it may stay', residue, epoch };
    await expect(session.rewind(asked)).rejects.toMatchObject({
      name: 'ResidueChanged',
      message: expect.stringContaining('mail of saga late (mail, ref '),
    });
    expect(await session.sagas.store.getRewind(SESSION, 'rw')).toBeUndefined();
    expect(session.stage.session().epoch).toBe(1);
    // Who does not say which plan he saw accepts all that stands, as ever.
    const answer = await session.carryOut({ acceptResidue: true, reason: 'it may stay' });
    expect(answer.status).toBe('REWOUND');
  });

  test.each([['mail'], ['pay', 'mail']])(
    'what nothing takes back and comes once the rewind has begun stops it: %s',
    async (...steps) => {
      const session = await rewindStage({ mailed: true });
      const { store } = session.sagas;
      const original = { ...store };
      store.createRewind = async (record) => {
        Object.assign(store, original);
        await session.start('late', 'm2', steps);
        await session.machine.settle();
        return original.createRewind(record);
      };
      const { residue } = await session.rewind({ dryRun: true });
      const asked = { acceptResidue: true, reason: 'it may stay', residue };
      const stopped = await session.carryOut(asked);
      expect(stopped.status).toBe('STOPPED');
      expect(stopped.sagas.find(({ sagaId }) => sagaId === 'late')).toMatchObject({
        status: 'COMPLETED',
        plan: { stands: [{ step: 'mail' }] },
      });
      await session.machine.operate({
        sagaId: 'late',
        action: 'undo',
        acceptResidue: true,
        evidence: 'it may stay',
        by: 'fin',
      });
      await session.machine.settle();
      expect((await session.carryOut(asked)).status).toBe('REWOUND');
    },
  );

  test('a saga that began since and waits for its next step is taken back, and stops it with what was not accepted', async () => {
    const session = await rewindStage();
    const { store } = session.sagas;
    const { machine } = session;
    const original = { ...store };
    const submit = (stepId: string, tool: string) =>
      machine.submit({ sagaId: 'chat', stepId, tool, arguments: {}, sessionId: SESSION, messageId: 'm2' });
    await machine.start({
      sagaId: 'chat',
      sessionId: SESSION,
      messageId: 'm2',
      interactive: { onIdle: 'unwind', allowIrreversible: ['mail'] },
      requestedBy: 'me',
    });
    await submit('pay', 'pay');
    await submit('seen', 'mail');
    store.createRewind = async (record) => {
      Object.assign(store, original);
      await submit('late', 'mail');
      return original.createRewind(record);
    };
    const { residue } = await session.rewind({ dryRun: true });
    const asked = { acceptResidue: true, reason: 'it may stay', residue };
    const stopped = await session.carryOut(asked);
    expect(stopped.status).toBe('STOPPED');
    expect(stopped.sagas.find(({ sagaId }) => sagaId === 'chat')).toMatchObject({
      status: 'COMPENSATION_FAILED',
      plan: { undo: [], stands: [{ step: 'seen' }, { step: 'late' }] },
    });
    for (const stepId of ['seen', 'late']) {
      await machine.operate({ sagaId: 'chat', action: 'skip', stepId, evidence: 'both may stay', by: 'fin' });
      await machine.settle();
    }
    expect((await session.carryOut(asked)).status).toBe('REWOUND');
  });

  test('another effect does not pass for an accepted one because an agent chose its name so', async () => {
    const session = await rewindStage();
    const { store } = session.sagas;
    const original = { ...store };
    // The hashes of both begin with the same 12 digits. Such a pair is found in a minute.
    await session.start('mail-c8fbb7a7147a', 'm2', ['mail']);
    await session.machine.settle();
    store.createRewind = async (record) => {
      Object.assign(store, original);
      await session.start('mail-efcbac1b3afd', 'm2', ['mail']);
      await session.machine.settle();
      return original.createRewind(record);
    };
    const { residue } = await session.rewind({ dryRun: true });
    expect(await session.carryOut({ acceptResidue: true, reason: 'it may stay', residue })).toMatchObject({
      status: 'STOPPED',
    });
  });

  test('a saga that did only what nothing takes back, once the rewind has begun, stops one that accepts nothing', async () => {
    const session = await rewindStage();
    const { store } = session.sagas;
    const original = { ...store };
    store.createRewind = async (record) => {
      Object.assign(store, original);
      await session.start('late', 'm2', ['mail']);
      await session.machine.settle();
      return original.createRewind(record);
    };
    const before = session.files();
    expect(await session.carryOut()).toMatchObject({ status: 'STOPPED' });
    expect(session.files()).toEqual(before);
  });
});

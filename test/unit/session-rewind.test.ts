/** A session that is rewound: effects first, then files, then the conversation (L6). */
import { describe, expect, test } from 'vitest';
import { errorOf } from '../support/error-of.ts';
import { breakOff } from '../support/fakes/abandoned.ts';
import { type Counter, createCounter } from '../support/fakes/faults.ts';
import { SESSION } from '../support/fakes/stage.ts';
import { committed, rejected } from '../support/scripted-saga.ts';
import { rewindStage, UNDONE } from '../support/session-rewind.ts';

const FILES_OF_M1 = { 'a.txt': 'two' };

describe('a rewind of a session', () => {
  test('undoes what came after the message, then brings the files back, and says where to go on', async () => {
    const session = await rewindStage();
    session.stage.world.duringRestore = () => {
      // Not one file is written while an effect stands.
      expect(session.undone()).toHaveLength(3);
    };
    const asked = await session.askFirst(() => session.rewind());
    expect(asked).toMatchObject({ status: 'UNDOING' });
    const answer = await session.carryOut();
    expect(answer).toMatchObject({
      status: 'REWOUND',
      trimAfterMessageId: 'm1',
      guidance: 'Leave the web alone.',
      files: { status: 'APPLIED', trimAfterMessageId: 'm1' },
    });
    expect(session.files()['api']).toEqual(FILES_OF_M1);
    expect(await session.statuses()).toEqual(UNDONE);
    expect(session.undone()).toEqual(['asks:0:undo', 'done:1:undo', 'done:0:undo']);
  });

  test('a dry run answers effects and files, and changes neither', async () => {
    const session = await rewindStage({ mailed: true });
    const before = session.files();
    const planned = await session.rewind({ dryRun: true });
    expect(planned).toMatchObject({
      status: 'PLANNED',
      sagas: [
        { sagaId: 'mailed', plan: { undo: [{ step: 'pay' }], stands: [{ step: 'mail' }] } },
        { sagaId: 'done', plan: { undo: [{ step: 'book', partly: true }, { step: 'pay' }] } },
      ],
      files: { status: 'PLANNED' },
      trimAfterMessageId: 'm1',
    });
    expect(session.files()).toEqual(before);
    expect(session.undone()).toEqual([]);
    expect(await session.sagas.store.getRewind(SESSION, 'rw')).toBeUndefined();
  });

  test('over what nothing takes back is refused before anything is written, unless it is accepted', async () => {
    const session = await rewindStage({ mailed: true });
    await expect(session.rewind()).rejects.toMatchObject({ name: 'PointOfNoReturn' });
    expect(await session.sagas.store.getRewind(SESSION, 'rw')).toBeUndefined();
    expect(session.stage.session().epoch).toBe(1);
    expect(session.undone()).toEqual([]);
    await expect(session.rewind({ acceptResidue: true })).rejects.toMatchObject(
      errorOf('InvalidInput', 'reason: acceptResidue needs a reason'),
    );
    expect(await session.sagas.store.getRewind(SESSION, 'rw')).toBeUndefined();
    const answer = await session.carryOut({ acceptResidue: true, reason: 'they have read it' });
    expect(answer.status).toBe('REWOUND');
    expect(session.undone()).toEqual(['mailed:0:undo', 'done:1:undo', 'done:0:undo']);
    const entries = await session.sagas.store.listEntries('mailed');
    expect(entries.find(({ status }) => status === 'undo_requested')).toMatchObject({
      acceptResidue: true,
      evidence: 'rewind rw: they have read it',
    });
  });

  describe('of a completed saga that goes on meanwhile to what nothing takes back', () => {
    type Session = Awaited<ReturnType<typeof rewindStage>>;
    const mailFrom = async ({ machine }: Session): Promise<void> => {
      const steps = [{ id: 'mail', tool: 'mail', arguments: {} }];
      const to = { stepId: 'pay' };
      await machine.rewind({ sagaId: 'done', requestId: 'side', to, plan: { steps }, by: 'fin' });
      await machine.settle();
    };
    const once = (act: () => Promise<void>) => {
      let isOver = false;
      return async () => {
        if (isOver) return;
        isOver = true;
        await act();
      };
    };

    test('is refused while nothing is written, also when the sandbox took its time', async () => {
      const session: Session = await rewindStage({ whilePlanning: once(() => mailFrom(session)) });
      await expect(session.rewind()).rejects.toMatchObject(errorOf('PointOfNoReturn', 'mail'));
      expect(await session.sagas.store.getRewind(SESSION, 'rw')).toBeUndefined();
      expect(session.stage.session().epoch).toBe(1);
    });

    test.each(['when the rewind is recorded', 'when it was looked at for its undo'] as const)(
      'stops later with that saga as it is: %s',
      async (when) => {
        const session = await rewindStage();
        const { store } = session.sagas;
        const original = { ...store };
        const meanwhile = once(async () => {
          Object.assign(store, original);
          await mailFrom(session);
        });
        if (when === 'when the rewind is recorded') {
          store.createRewind = async (record) => {
            await meanwhile();
            return original.createRewind(record);
          };
        } else {
          let isRecorded = false;
          store.createRewind = async (record) => {
            isRecorded = true;
            return original.createRewind(record);
          };
          // The ledger is read for what nothing takes back, and then the undo is recorded.
          store.pageEntries = async (...asked) => {
            const page = await original.pageEntries(...asked);
            if (isRecorded && asked[0] === 'done') await meanwhile();
            return page;
          };
        }
        const stopped = await session.carryOut();
        expect(stopped).toMatchObject({
          status: 'STOPPED',
          sagas: [{ sagaId: 'done', status: 'COMPLETED', plan: { stands: [{ step: 'mail' }] } }],
        });
        const entries = await store.listEntries('done');
        expect(entries.map(({ status }) => status)).not.toContain('undo_requested');
        const before = session.files();
        expect(await session.carryOut()).toMatchObject({ status: 'STOPPED' });
        expect(session.files()).toEqual(before);
        // Whoever lets it stand goes on, by hand or with a rewind that accepts it.
        if (when === 'when the rewind is recorded') {
          await session.machine.operate({
            sagaId: 'done',
            action: 'undo',
            acceptResidue: true,
            evidence: 'it may stay',
            by: 'fin',
          });
          await session.machine.settle();
          expect(await session.carryOut()).toMatchObject({ status: 'REWOUND' });
        } else {
          const accepted = { requestId: 'rw-2', acceptResidue: true, reason: 'it may stay' };
          expect(await session.carryOut(accepted)).toMatchObject({ status: 'REWOUND' });
        }
        expect((await store.getHead('done'))?.state.status).toBe('COMPENSATED');
        expect(session.files()['api']).toEqual(FILES_OF_M1);
      },
    );
  });

  test('whose files cannot go back is refused before the first effect is undone', async () => {
    const session = await rewindStage();
    session.stage.world.running.clear();
    await expect(session.rewind()).rejects.toMatchObject({ name: 'SandboxNotFound' });
    expect(session.undone()).toEqual([]);
    await expect(session.rewind({ to: { messageId: 'm9' } })).rejects.toMatchObject({
      name: 'MessageNotFound',
    });
    await expect(session.rewind({ sessionId: 'other' })).rejects.toMatchObject({ name: 'SessionNotFound' });
  });

  test('makes agents stale from the beginning, also where a rollback that died holds the session', async () => {
    const session = await rewindStage();
    const { stage } = session;
    expect(await breakOff(stage, { where: 'at file', at: 1, kind: 'death' })).toBe(true);
    await stage.clock.sleep(1_000_000);
    const { epoch, busy } = stage.session();
    expect(busy?.kind).toBe('rollback');
    const asked = await session.askFirst(() => session.rewind());
    expect(asked).toMatchObject({ status: 'UNDOING' });
    const late = { sessionId: SESSION, epoch };
    await expect(
      session.machine.start({
        sagaId: 'late',
        plan: { steps: [{ id: 'pay', tool: 'pay', arguments: {} }] },
        input: {},
        requestedBy: 'me',
        ...late,
      }),
    ).rejects.toMatchObject({ name: 'StaleEpoch' });
    expect((await session.carryOut()).status).toBe('REWOUND');
    expect(session.files()['api']).toEqual(FILES_OF_M1);
    expect(await session.statuses()).toEqual(UNDONE);
  });

  test.each(['all', 'effects'] as const)(
    'that another call of the same request finished meanwhile touches nothing that came since: scope %s',
    async (scope) => {
      const session = await rewindStage();
      const { machine, sagas } = session;
      await session.askFirst(() => session.rewind({ scope }));
      let isOver = false;
      const through: Counter = {
        ...createCounter(),
        wrap: (_name, port) =>
          new Proxy(port, {
            get: (target, property, receiver) => {
              const value: unknown = Reflect.get(target, property, receiver);
              if (property !== 'listBySession' || isOver || typeof value !== 'function') return value;
              return async (...given: unknown[]) => {
                isOver = true;
                expect((await session.carryOut({ scope })).status).toBe('REWOUND');
                await session.start('later', 'm3', ['pay', 'book']);
                await machine.settle();
                return Reflect.apply(value, target, given) as unknown;
              };
            },
          }),
      };
      const answer = await session.rewind({ scope }, through);
      expect(isOver).toBe(true);
      expect(answer).toMatchObject({ status: 'REWOUND', sagas: [] });
      await machine.settle();
      expect((await sagas.store.getHead('later'))?.state.status).toBe('COMPLETED');
    },
  );

  test('stops at a compensator that fails, with the files untouched, and goes on when it is repaired', async () => {
    let broken = true;
    const session = await rewindStage({
      answer: ({ operation, idempotencyKey }) =>
        broken && operation === 'compensate' && idempotencyKey === 'done:0:undo' ? rejected() : committed(),
    });
    const before = session.files();
    const stopped = await session.carryOut();
    expect(stopped).toMatchObject({
      status: 'STOPPED',
      sagas: [{ sagaId: 'done', status: 'COMPENSATION_FAILED' }],
    });
    expect(stopped).not.toHaveProperty('files');
    expect(session.files()).toEqual(before);
    // Agents of the old epoch are stale from the beginning.
    const late = session.stage.instance().checkpoint('m3', 't3', { epoch: 1 });
    await expect(late).rejects.toMatchObject({ name: 'StaleEpoch' });
    broken = false;
    await session.machine.operate({ sagaId: 'done', action: 'retry', by: 'fin' });
    await session.machine.settle();
    expect(await session.carryOut()).toMatchObject({ status: 'REWOUND' });
    expect(session.files()['api']).toEqual(FILES_OF_M1);
  });

  test('is one when it is asked again, and leaves alone what came after it', async () => {
    const session = await rewindStage();
    const first = await session.carryOut();
    await session.start('later', 'm4', ['pay']);
    await session.machine.settle();
    session.stage.edit('api', { 'a.txt': 'later' });
    const again = await session.carryOut();
    expect(again).toMatchObject({ status: 'REWOUND', files: first.files });
    expect(session.files()['api']).toEqual({ 'a.txt': 'later' });
    expect((await session.sagas.store.getHead('later'))?.state.status).toBe('COMPLETED');
    await expect(session.rewind({ guidance: 'Otherwise.' })).rejects.toMatchObject({
      name: 'RequestConflict',
    });
  });

  test('takes back also what a late agent starts while it undoes', async () => {
    const session = await rewindStage();
    expect(await session.rewind()).toMatchObject({ status: 'UNDOING' });
    await session.start('late', 'm2', ['pay']);
    expect(await session.carryOut()).toMatchObject({ status: 'REWOUND' });
    expect((await session.sagas.store.getHead('late'))?.state.status).toBe('COMPENSATED');
  });

  test('of the effects alone leaves the files, of the conversation both', async () => {
    const session = await rewindStage();
    const before = session.files();
    const told = await session.carryOut({ scope: 'conversation', requestId: 'rw-c' });
    expect(told).toMatchObject({ status: 'REWOUND', sagas: [], trimAfterMessageId: 'm1' });
    expect(session.undone()).toEqual([]);
    const effects = await session.carryOut({ scope: 'effects', requestId: 'rw-e' });
    expect(effects).toMatchObject({ status: 'REWOUND', sagas: [{ sagaId: 'done', status: 'COMPENSATED' }] });
    expect(session.files()).toEqual(before);
  });
});

test('what a person let stand before is named in the plan, and refuses nothing', async () => {
  let isRefused = true;
  const session = await rewindStage({
    mailed: true,
    answer: ({ operation, idempotencyKey }) =>
      isRefused && operation === 'compensate' && idempotencyKey.startsWith('done:1')
        ? rejected()
        : committed(),
  });
  const { machine } = session;
  await machine.operate({ sagaId: 'done', action: 'undo', by: 'olga' });
  await machine.settle();
  await machine.operate({ sagaId: 'done', action: 'skip', stepId: 'book', evidence: 'kept', by: 'olga' });
  isRefused = false;
  await machine.settle();
  await machine.operate({
    sagaId: 'mailed',
    action: 'undo',
    acceptResidue: true,
    evidence: 'it may stay',
    by: 'olga',
  });
  await machine.settle();
  const planned = await session.rewind({ dryRun: true });
  expect(planned.sagas).toMatchObject([
    {
      sagaId: 'mailed',
      status: 'COMPENSATED',
      plan: { undo: [], stands: [], letStand: [{ step: 'mail', reason: expect.stringMatching(/accepted/) }] },
    },
    {
      sagaId: 'done',
      status: 'COMPENSATED',
      plan: { undo: [], stands: [], letStand: [{ step: 'book', reason: 'skipped by an operator: kept' }] },
    },
  ]);
  const done = await session.carryOut();
  expect(done.status).toBe('REWOUND');
  expect(done.sagas.map(({ plan }) => plan.letStand?.length)).toEqual([1, 1]);
  // By hand after all: then nothing of it stands.
  await machine.operate({ sagaId: 'done', action: 'resolve', stepId: 'book', evidence: 're_7', by: 'olga' });
  const again = await session.rewind({ requestId: 'rw-2', dryRun: true });
  expect(again.sagas.find(({ sagaId }) => sagaId === 'done')?.plan).toEqual({ undo: [], stands: [] });
});

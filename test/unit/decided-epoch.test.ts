/** C9 of what people decide: an act that names the epoch of its plan never acts on a session that another act moved since. */
import { describe, expect } from 'vitest';
import type { Counter } from '../support/fakes/faults.ts';
import { createCounter, meanwhile } from '../support/fakes/faults.ts';
import { createWorkingStage, SANDBOX, SESSION, type Stage } from '../support/fakes/stage.ts';
import { inTurn } from '../support/sampled-test.ts';
import { printedSeed, WHOLE } from '../support/sampling.ts';
import { rewindStage } from '../support/session-rewind.ts';

const test = inTurn('decided-epoch');

/** Every third instant, others each time. */
const STEP = WHOLE ? 1 : 3;
const FIRST = 1 + (printedSeed('two that are decided in one epoch') % STEP);

interface Asked {
  requestId: string;
  epoch?: number;
  dryRun?: boolean;
}
type Act = (stage: Stage, forkId: string, asked: Asked, counter?: Counter) => Promise<{ epoch: number }>;

const ACTS: Readonly<Record<string, Act>> = {
  rollback: (stage, _, asked, counter) => stage.instance(counter).rollback({ messageId: 'm1', ...asked }),
  revert: (stage, _, asked, counter) => stage.instance(counter).revert({ messageId: 'm2', ...asked }),
  merge: (stage, from, asked, counter) => stage.instance(counter).merge({ from, into: SESSION, ...asked }),
  resume: (stage, _, { dryRun: _dry, ...asked }, counter) =>
    stage.instance(counter).rehydrate({ mode: 'resume', ...asked }),
};
const PAIRS = Object.keys(ACTS).flatMap((first) =>
  Object.keys(ACTS).map((second) => [first, second] as const),
);
const actOf = (name: string): Act => {
  const act = ACTS[name];
  if (act === undefined) throw new Error(`no act ${name}`);
  return act;
};

const staged = async () => {
  const stage = await createWorkingStage();
  const { sessionId: forkId, sandboxId } = await stage.instance().fork();
  stage.edit('notes', { 'fork.txt': 'fork' }, sandboxId);
  await stage.instance().checkpoint('f1', 'f1', { sessionId: forkId });
  return { stage, forkId };
};

const sandboxOf = (stage: Stage, sessionId: string): string =>
  stage.store.tables.sessions.get(sessionId)?.sandboxId ?? '';

const nameOf = (error: unknown): string => (error instanceof Error ? error.name : String(error));

describe('what was decided before somebody moved the session', () => {
  test.each(PAIRS)(
    'a %s, then a %s: refused, in the plan too, and nothing is changed',
    async (one, other) => {
      const { stage, forkId } = await staged();
      await actOf(one)(stage, forkId, { requestId: 'one', epoch: 1 });
      const [files, session] = [structuredClone([...stage.world.running]), stage.session()];
      expect(session.epoch).toBe(2);
      for (const dryRun of [true, false]) {
        await expect(
          actOf(other)(stage, forkId, { requestId: 'other', epoch: 1, dryRun }),
        ).rejects.toMatchObject({
          name: 'StaleEpoch',
          retryable: false,
          message: expect.stringMatching(/Nothing was changed.*Look at the plan again/),
          details: { epoch: 1, currentEpoch: 2 },
        });
      }
      expect([...stage.world.running]).toEqual(files);
      expect(stage.session()).toEqual(session);
    },
  );

  test.each(Object.keys(ACTS))('a %s that is asked for again has its first answer', async (name) => {
    const { stage, forkId } = await staged();
    const asked = { requestId: 'one', epoch: 1 };
    const done = await actOf(name)(stage, forkId, asked);
    expect(await actOf(name)(stage, forkId, asked)).toEqual(done);
    // In whatever epoch it is asked for, it is the same request.
    expect(await actOf(name)(stage, forkId, { requestId: 'one' })).toEqual(done);
    await stage.instance().rollback({ messageId: 'm1', requestId: 'later' });
    expect(await actOf(name)(stage, forkId, asked)).toEqual(done);
  });

  test('a checkpoint in between is no move: what it holds is captured, and goes back with the rest', async () => {
    const stage = await createWorkingStage();
    const plan = await stage.instance().rollback({ messageId: 'm1', requestId: 'r', dryRun: true });
    stage.edit('api', { 'a.txt': 'four' });
    await stage.instance().checkpoint('m3', 't3', { epoch: 1 });
    const done = await stage.instance().rollback({ messageId: 'm1', requestId: 'r', epoch: plan.epoch });
    expect(done).toMatchObject({ status: 'APPLIED', discardedMessageIds: ['m2', 'm3'] });
  });

  test('a message that gets another checkpoint in between: the plan names the one that is gone to', async () => {
    for (const paths of [undefined, ['api/a.txt']]) {
      const stage = await createWorkingStage();
      const asked = { messageId: 'm2', requestId: 'r', ...(paths && { paths }) };
      const before = stage.world.filesOf(SANDBOX);
      const plan = await stage.instance().rollback({ ...asked, dryRun: true });
      stage.edit('api', { 'a.txt': 'four' });
      await stage.instance().checkpoint('m2', 't3', { epoch: 1 });
      stage.edit('api', { 'a.txt': 'five' });
      const checkpointId = plan.pathsFrom ?? plan.checkpointId;
      expect(checkpointId).toBe(stage.checkpoints()[2]?.checkpointId);
      const done = await stage.instance().rollback({ ...asked, checkpointId, epoch: 1 });
      expect(done.status).toBe('APPLIED');
      expect(stage.world.filesOf(SANDBOX)).toEqual({ ...before, api: { 'a.txt': 'two' } });
      // It is the same request, whoever names that checkpoint.
      expect(await stage.instance().rollback(asked)).toEqual(done);
      // Without it, the message means its last one.
      await stage.instance().rollback({ ...asked, requestId: 'r2' });
      expect(stage.world.filesOf(SANDBOX).api).toEqual({ 'a.txt': 'four' });
    }
  });

  test('a checkpoint that is not of the message is none of its plan', async () => {
    const stage = await createWorkingStage();
    const checkpointId = stage.checkpoints()[1]?.checkpointId ?? '';
    const asked = stage.instance().rollback({ messageId: 'm2', checkpointId, requestId: 'r' });
    await expect(asked).rejects.toThrow(`has no checkpoint ${checkpointId} of message "m2"`);
  });

  test('of a review copy the epoch of the session says nothing', async () => {
    const stage = await createWorkingStage();
    const { sandboxId } = await stage.instance().rehydrate({});
    await stage.instance().rollback({ messageId: 'm1', requestId: 'r' });
    const inCopy = { messageId: 'm1', requestId: 'c', sandboxId, epoch: 1 };
    expect(await stage.instance().rollback(inCopy)).toMatchObject({ status: 'APPLIED' });
  });

  test('an epoch that never was is told apart', async () => {
    const stage = await createWorkingStage();
    const asked = stage.instance().rollback({ messageId: 'm1', requestId: 'r', epoch: 7 });
    await expect(asked).rejects.toThrow('has never been in that epoch');
  });

  test('nothing to merge is no answer in another epoch either', async () => {
    const { stage, forkId } = await staged();
    await stage.instance().merge({ from: forkId, into: SESSION, requestId: 'm' });
    const again = (epoch: number) =>
      stage.instance().merge({ from: forkId, into: SESSION, requestId: 'again', epoch });
    await expect(again(1)).rejects.toMatchObject({ name: 'StaleEpoch' });
    expect(await again(2)).toMatchObject({ status: 'NOTHING' });
  });
});

describe('of two that are decided in one epoch, at every instant', () => {
  test.each(PAIRS)('a %s with a %s in the midst of it: one is done', async (one, other) => {
    for (let at = FIRST; ; at += STEP) {
      const { stage, forkId } = await staged();
      let second = '';
      const counter = meanwhile(at, 'before', async () => {
        second = await actOf(other)(stage, forkId, { requestId: 'other', epoch: 1 }).then(
          () => 'done',
          nameOf,
        );
      });
      const first = await actOf(one)(stage, forkId, { requestId: 'one', epoch: 1 }, counter).then(
        () => 'done',
        nameOf,
      );
      if (!counter.fired) break;
      const where = `${at} ${counter.calls[at - 1]}: ${first}, ${second}`;
      expect([first, second].toSorted(), where).toContain('done');
      expect(['StaleEpoch', 'RollbackInProgress'], where).toContain(first === 'done' ? second : first);
      expect(stage.session().epoch, where).toBe(2);
      expect(stage.session().busy, where).toBeUndefined();
    }
  });

  test.each(Object.keys(ACTS))('a %s with itself, sent again: both have one answer', async (name) => {
    for (let at = FIRST; ; at += STEP) {
      const { stage, forkId } = await staged();
      const asked = { requestId: 'one', epoch: 1 };
      let second: unknown;
      const counter = meanwhile(at, 'before', async () => {
        second = await actOf(name)(stage, forkId, asked).catch(nameOf);
      });
      const first: unknown = await actOf(name)(stage, forkId, asked, counter).catch(nameOf);
      if (!counter.fired) break;
      const where = `${at} ${counter.calls[at - 1]}`;
      for (const seen of [first, second]) expect(seen, where).not.toBe('StaleEpoch');
      expect(await actOf(name)(stage, forkId, asked), where).toMatchObject({ epoch: 2 });
      expect(stage.session().epoch, where).toBe(2);
    }
  });
});

test('a merge that is sent again is not refused for work that came after it, at any instant', async () => {
  for (let at = 1; ; at += 1) {
    const { stage, forkId } = await staged();
    const { from } = await stage.instance().merge({
      from: forkId,
      into: SESSION,
      requestId: 'plan',
      dryRun: true,
    });
    const asked = { requestId: 'one', epoch: 1, fromCheckpointId: from.checkpointId };
    const merge = (counter?: Counter) =>
      stage.instance(counter).merge({ from: forkId, into: SESSION, ...asked });
    let second = '';
    const counter = meanwhile(at, 'before', async () => {
      second = await merge().then(({ status }) => status, nameOf);
      stage.edit('notes', { 'later.txt': 'later' }, sandboxOf(stage, forkId));
      await stage.instance().checkpoint('f2', 'f2', { sessionId: forkId });
    });
    const first = await merge(counter).then(({ status }) => status, nameOf);
    if (!counter.fired) break;
    const where = `${at} ${counter.calls[at - 1]}`;
    expect([first, second], where).not.toContain('SourceMoved');
    expect(await merge(), where).toMatchObject({ status: 'APPLIED', from });
  }
});

const BEGUN = { status: expect.stringMatching(/^(?:UNDOING|REWOUND)$/) as unknown };

describe('a rewind of a session', () => {
  test('names the epoch of its plan, and is refused where somebody moved the session since', async () => {
    const session = await rewindStage();
    const { epoch } = await session.rewind({ dryRun: true });
    expect(epoch).toBe(1);
    await session.stage.instance().rollback({ messageId: 'm1', requestId: 'r' });
    for (const scope of ['all', 'effects', 'conversation'] as const) {
      for (const dryRun of [true, false]) {
        await expect(session.rewind({ epoch: 1, scope, dryRun })).rejects.toMatchObject({
          name: 'StaleEpoch',
        });
      }
    }
    expect(session.undone()).toEqual([]);
    expect(await session.sagas.store.getRewind(SESSION, 'rw')).toBeUndefined();
    expect(await session.carryOut({ epoch: 2 })).toMatchObject({ status: 'REWOUND' });
  });

  test('goes to the checkpoint of the message that its plan showed, in whatever scope', async () => {
    for (const scope of ['all', 'effects', 'conversation'] as const) {
      const session = await rewindStage();
      const { checkpointId = '', epoch = 0 } = await session.rewind({ dryRun: true, scope });
      await session.stage.instance().checkpoint('m1', 't9');
      const to = { messageId: 'm1', checkpointId };
      expect(await session.carryOut({ to, epoch, scope })).toMatchObject({ status: 'REWOUND', checkpointId });
      expect(await session.carryOut({ scope })).toMatchObject({ status: 'REWOUND', checkpointId });
    }
  });

  test('killed before it was recorded, then decided anew: refused where somebody moved the session since', async () => {
    let isKilled = false;
    for (let at = 1; !isKilled; at += 1) {
      const session = await rewindStage();
      const counter = createCounter({ at, when: 'before', kind: 'death' });
      await session.rewind({ epoch: 1 }, counter).catch(() => undefined);
      isKilled = counter.calls[at - 1] === 'sagas.createRewind';
      if (!isKilled) continue;
      expect(session.stage.session().epoch).toBe(2);
      await session.stage.instance().rollback({ messageId: 'm1', requestId: 'r' });
      for (const epoch of [1, 2]) {
        await expect(session.rewind({ epoch })).rejects.toMatchObject({ name: 'StaleEpoch' });
      }
      expect(session.undone()).toEqual([]);
    }
  });

  test('goes on in its epoch, however often it is asked for', async () => {
    const session = await rewindStage();
    expect(await session.rewind({ epoch: 1 })).toMatchObject({ status: 'UNDOING' });
    const done = await session.carryOut({ epoch: 1 });
    expect(done).toMatchObject({ status: 'REWOUND', files: { status: 'APPLIED' } });
    expect((await session.rewind({ epoch: 1 })).status).toBe('REWOUND');
    expect((await session.rewind()).status).toBe('REWOUND');
  });

  test('with another one decided in the same epoch at any instant: one begins', async () => {
    for (let at = FIRST; ; at += STEP) {
      const session = await rewindStage();
      let second = '';
      const counter = meanwhile(at, 'before', async () => {
        second = await session.rewind({ requestId: 'other', epoch: 1 }).then(() => 'begun', nameOf);
      });
      const first = await session.rewind({ epoch: 1 }, counter).then(() => 'begun', nameOf);
      if (!counter.fired) break;
      const where = `${at} ${counter.calls[at - 1]}: ${first}, ${second}`;
      expect([first, second], where).toContain('begun');
      // Its plan was made while the other wrote.
      expect(['StaleEpoch', 'SandboxChanged'], where).toContain(first === 'begun' ? second : first);
      const records = await Promise.all(
        ['rw', 'other'].map((id) => session.sagas.store.getRewind(SESSION, id)),
      );
      expect(
        records.filter((record) => record !== undefined),
        where,
      ).toHaveLength(1);
    }
  });

  describe('that is planned again by its own request', () => {
    const planIn = (session: Awaited<ReturnType<typeof rewindStage>>, counter?: Counter) =>
      session.rewind({ dryRun: true }, counter);

    test('while it begins, at any instant: as it was confirmed, or begun', async () => {
      for (let at = FIRST; ; at += STEP) {
        const session = await rewindStage();
        const before = await planIn(session);
        let again: unknown;
        const counter = meanwhile(at, 'before', async () => {
          again = await planIn(session).catch(nameOf);
        });
        await session.rewind({ epoch: 1 }, counter);
        if (!counter.fired) break;
        const where = `${at} ${counter.calls[at - 1]}`;
        expect([before, expect.objectContaining(BEGUN)], where).toContainEqual(again);
      }
    });

    test('and begins meanwhile, at any instant: as it was confirmed, or begun', async () => {
      for (let at = FIRST; ; at += STEP) {
        const session = await rewindStage();
        const before = await planIn(session);
        const counter = meanwhile(at, 'before', async () => {
          await session.rewind({ epoch: 1 });
        });
        const again: unknown = await planIn(session, counter).catch(nameOf);
        if (!counter.fired) break;
        const where = `${at} ${counter.calls[at - 1]}`;
        // The plan was made while the files were written, or no plan was made.
        expect([before, 'SandboxChanged', expect.objectContaining(BEGUN)], where).toContainEqual(again);
      }
    });
  });

  test('that is killed at any instant is brought to its end by the same request', async () => {
    for (let at = FIRST; ; at += STEP) {
      const session = await rewindStage();
      const counter = createCounter({ at, when: 'after', kind: 'death' });
      await session.rewind({ epoch: 1 }, counter).catch(() => undefined);
      if (!counter.fired) break;
      // Whoever held the session is over by then.
      session.stage.passMs(1_000_000);
      expect((await session.carryOut({ epoch: 1 })).status, `${at}`).toBe('REWOUND');
      expect(session.stage.world.filesOf(SANDBOX)['api'], `${at}`).toEqual({ 'a.txt': 'two' });
    }
  });
});

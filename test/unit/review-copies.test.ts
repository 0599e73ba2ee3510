/** Which sandboxes are review copies, and that nothing else is ever killed, over the model of the ports. */
import { describe, expect, test } from 'vitest';
import { createDeleteCopy } from '../../core/checkpoint/copies/delete-copy.ts';
import { createListCopies } from '../../core/checkpoint/copies/list-copies.ts';
import { createForkSession } from '../../core/checkpoint/lifecycle/fork-session.ts';
import { verifyNameOf } from '../../core/checkpoint/session/keys.ts';
import { failing } from '../support/fakes/failing.ts';
import { createWorkingStage, SANDBOX, SESSION, type Stage } from '../support/fakes/stage.ts';

const copiesOf = (stage: Stage) => {
  const { deps } = stage.instance();
  const invocation = { deadlineMs: stage.clock.now().getTime() + 900_000 };
  const remove = createDeleteCopy(deps);
  return {
    list: createListCopies(deps),
    remove: (input: Parameters<typeof remove>[0]) => remove(input, invocation),
  };
};

const idsOf = async (stage: Stage): Promise<string[]> =>
  (await copiesOf(stage).list({})).copies.map(({ sandboxId }) => sandboxId);

describe('review copies', () => {
  test('are listed with session, message and state, and deleted once', async () => {
    const stage = await createWorkingStage();
    const { sandboxId } = await stage.instance().rehydrate({ requestId: 'look', messageId: 'm1' });
    const { list, remove } = copiesOf(stage);
    const { copies } = await list({});
    expect(copies).toEqual([
      expect.objectContaining({
        sandboxId,
        sessionId: SESSION,
        requestId: 'look',
        madeFor: 'review',
        state: 'idle',
        messageId: 'm1',
        projectsRoot: '/projects',
      }),
    ]);
    expect((await list({ sessionId: SESSION })).copies).toEqual(copies);
    await failing(list({ sessionId: 'another' }), 'SessionNotFound');
    expect(await remove({ sandboxId })).toEqual({ sandboxId, deleted: true });
    expect(await remove({ sandboxId })).toEqual({ sandboxId, deleted: false });
    expect([...stage.world.running.keys()]).toEqual([SANDBOX]);
  });

  test('of a session without any are none, and of one that is gone those that still are', async () => {
    const stage = await createWorkingStage();
    const { list } = copiesOf(stage);
    expect(await list({ sessionId: SESSION })).toEqual({ copies: [] });
    const { sandboxId } = await stage.instance().rehydrate({ requestId: 'look' });
    const { deps } = stage.instance();
    const gone = createListCopies({ ...deps, store: { ...deps.store, getSession: async () => undefined } });
    expect((await gone({ sessionId: SESSION })).copies).toMatchObject([{ sandboxId }]);
  });

  test('stand where they were rolled back to', async () => {
    const stage = await createWorkingStage();
    const { sandboxId } = await stage.instance().rehydrate({ requestId: 'look' });
    await stage.instance().rollback({ messageId: 'm1', requestId: 'r1', sandboxId });
    const { copies } = await copiesOf(stage).list({});
    expect(copies).toEqual([expect.objectContaining({ sandboxId, messageId: 'm1' })]);
  });

  test('a sandbox that a session works in is none: its own, one it was resumed in, one it was begun in', async () => {
    const stage = await createWorkingStage();
    const resumed = await stage.instance().rehydrate({ requestId: 'resume', mode: 'resume' });
    const review = await stage.instance().rehydrate({ requestId: 'look' });
    await stage.instance().startSession({ sessionId: 'in-the-copy', sandboxId: review.sandboxId });
    expect(await idsOf(stage)).toEqual([]);
    const { remove } = copiesOf(stage);
    await failing(remove({ sandboxId: resumed.sandboxId }), 'SessionConflict');
    await failing(remove({ sandboxId: review.sandboxId }), 'SessionConflict');
    expect(stage.world.running.size).toBe(3);
    // The session goes on elsewhere, so the first one is left over.
    await stage.instance().rehydrate({ requestId: 'again', mode: 'resume' });
    expect(await idsOf(stage)).toEqual([resumed.sandboxId]);
  });

  test('one whose files are the mounted directory of a session is none', async () => {
    const stage = await createWorkingStage();
    const { sandboxId } = await stage.instance().rehydrate({ requestId: 'look' });
    const copy = stage.world.running.get(sandboxId);
    if (copy === undefined) throw new Error('there is no copy');
    stage.world.addSandbox('mounted', Object.fromEntries(copy.repositories));
    copy.tags = { ...copy.tags, 'walkback-mounted-by': 'other,mounted' };
    expect(await idsOf(stage)).toEqual([sandboxId]);
    await stage.instance().startSession({ sessionId: 'in-the-copy', sandboxId: 'mounted' });
    expect(await idsOf(stage)).toEqual([]);
    await failing(copiesOf(stage).remove({ sandboxId }), 'SessionConflict');
    expect(stage.world.running.has(sandboxId)).toBe(true);
  });

  test('a session that the list of sessions does not show yet keeps its sandbox', async () => {
    const stage = await createWorkingStage();
    const resumed = await stage.instance().rehydrate({ requestId: 'resume', mode: 'resume' });
    const { deps } = stage.instance();
    const behind = { ...deps, store: { ...deps.store, listSessions: async () => ({ sessions: [] }) } };
    expect((await createListCopies(behind)({})).copies).toEqual([]);
    await failing(
      createDeleteCopy(behind)({ sandboxId: resumed.sandboxId }, { deadlineMs: 0 }),
      'SessionConflict',
    );
    expect(stage.world.running.has(resumed.sandboxId)).toBe(true);
  });

  test('of another deployment, and of nobody, are none', async () => {
    const stage = await createWorkingStage();
    stage.world.addSandbox('strange', {});
    stage.world.addSandbox('theirs', {}).tags = { 'walkback-session': 'x', 'walkback-request': 'y' };
    // Even with the names of a request of ours.
    await stage.instance().rehydrate({ requestId: 'look' });
    stage.world.addSandbox('twin', {}).tags = { 'walkback-session': SESSION, 'walkback-request': 'look' };
    const { list, remove } = copiesOf(stage);
    expect((await list({})).copies).toHaveLength(1);
    for (const sandboxId of ['strange', 'theirs', 'twin', SANDBOX]) {
      const name = sandboxId === SANDBOX ? 'SessionConflict' : 'InvalidInput';
      await failing(remove({ sandboxId }), name);
      expect(stage.world.running.has(sandboxId)).toBe(true);
    }
  });

  test('a fork has its sandbox from before it begins until it ends', async () => {
    const stage = await createWorkingStage();
    const { deps } = stage.instance();
    const invocation = { deadlineMs: stage.clock.now().getTime() + 900_000 };
    const ask = { sessionId: SESSION, requestId: 'f1' };
    const begun = {
      ...deps,
      store: { ...deps.store, createSession: () => Promise.reject(new Error('gone')) },
    };
    await expect(createForkSession(begun)(ask, invocation)).rejects.toThrow('gone');
    const [unfinished] = (await copiesOf(stage).list({})).copies;
    expect(unfinished).toMatchObject({ madeFor: 'fork', state: 'busy' });
    await failing(copiesOf(stage).remove({ sandboxId: unfinished?.sandboxId ?? '' }), 'RequestConflict');
    const fork = await createForkSession(deps)(ask, invocation);
    expect(fork.sandboxId).toBe(unfinished?.sandboxId);
    expect(await idsOf(stage)).toEqual([]);
    await failing(copiesOf(stage).remove({ sandboxId: fork.sandboxId }), 'SessionConflict');
  });

  test('a fork that nobody finished is left over once no call can work on it any more', async () => {
    const stage = await createWorkingStage();
    const { deps } = stage.instance();
    const begun = {
      ...deps,
      store: { ...deps.store, createSession: () => Promise.reject(new Error('gone')) },
    };
    const invocation = { deadlineMs: stage.clock.now().getTime() + 900_000 };
    const ask = { sessionId: SESSION, requestId: 'f1' };
    await expect(createForkSession(begun)(ask, invocation)).rejects.toThrow('gone');
    stage.passMs(961_000);
    const [left] = (await copiesOf(stage).list({})).copies;
    expect(left).toMatchObject({ madeFor: 'fork', state: 'idle' });
    expect(await copiesOf(stage).remove({ sandboxId: left?.sandboxId ?? '' })).toMatchObject({
      deleted: true,
    });
  });

  test('one in which commitments are verified is busy until no call can work in it any more', async () => {
    const stage = await createWorkingStage();
    const { sandboxId } = await stage.instance().rehydrate({ requestId: verifyNameOf('any') });
    expect((await copiesOf(stage).list({})).copies).toEqual([expect.objectContaining({ state: 'busy' })]);
    await failing(copiesOf(stage).remove({ sandboxId }), 'RequestConflict');
    stage.passMs(961_000);
    expect(await copiesOf(stage).remove({ sandboxId })).toMatchObject({ deleted: true });
  });

  test('while a rehydrate builds it, or a rollback works in it, it is busy and stays', async () => {
    const stage = await createWorkingStage();
    const { sandboxId } = await stage.instance().rehydrate({ requestId: 'look' });
    const journal = await stage.store.getRehydrate(SESSION, 'look');
    const copy = await stage.store.getCopy(SESSION, sandboxId);
    if (journal === undefined || copy === undefined) throw new Error('the rehydrate left no items');
    const nowMs = stage.clock.now().getTime();
    const states = [
      { getRehydrate: async () => ({ ...journal, phase: 'created' as const, heldUntilMs: nowMs + 1 }) },
      {
        getCopy: async () => ({
          ...copy,
          busy: { kind: 'rollback' as const, requestId: 'r', untilMs: nowMs + 1 },
        }),
      },
    ];
    const { deps } = stage.instance();
    for (const state of states) {
      const during = { ...deps, store: { ...deps.store, ...state } };
      expect((await createListCopies(during)({})).copies).toEqual([
        expect.objectContaining({ state: 'busy' }),
      ]);
      await failing(createDeleteCopy(during)({ sandboxId }, { deadlineMs: 0 }), 'RequestConflict');
    }
    expect(stage.world.running.has(sandboxId)).toBe(true);
  });
});

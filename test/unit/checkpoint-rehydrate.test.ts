/** Rebuilding a session elsewhere, over the model of the ports. */
import { setImmediate } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import type { RehydrateJournal } from '../../core/checkpoint/journals.ts';
import { createRehydrate } from '../../core/checkpoint/rehydrate/rehydrate.ts';
import { WalkbackError } from '../../core/shared/errors.ts';
import { failing } from '../support/fakes/failing.ts';
import { createCounter, Death } from '../support/fakes/faults.ts';
import { failCapturesOf } from '../support/fakes/rollbacks.ts';
import { createWorkingStage, SANDBOX, SESSION, type Stage } from '../support/fakes/stage.ts';

/** The working stage with its work checkpointed and its sandbox gone. */
const createLostStage = async () => {
  const stage = await createWorkingStage();
  await stage.instance().checkpoint('m3', 't3');
  const files = stage.world.filesOf(SANDBOX);
  stage.world.running.delete(SANDBOX);
  return { stage, files };
};

const running = (stage: Stage) => [...stage.world.running.keys()];

describe('rehydrate', () => {
  test('rebuilds the head from table and bucket alone, and answers the contract', async () => {
    const { stage, files } = await createLostStage();
    const answer = await stage.instance().rehydrate({});
    expect(stage.world.filesOf(answer.sandboxId)).toEqual(files);
    expect(answer).toMatchObject({ epoch: 1, projectsRoot: '/projects', warnings: [] });
    expect(answer.repositories.map(({ path }) => path)).toEqual(['api', 'late', 'notes', 'web']);
    expect(stage.session()).toMatchObject({ sandboxId: SANDBOX, epoch: 1 });
  });

  test('a renewal of its hold that was late leaves what it noted meanwhile', async () => {
    const { stage } = await createLostStage();
    const { deps } = stage.instance();
    const { store } = deps;
    const noted = Promise.withResolvers<void>();
    let renew = (): void => undefined;
    const every = (_: number, act: () => void) => {
      renew = act;
      return () => undefined;
    };
    const late: typeof store = {
      ...store,
      // What it reads is of before.
      getRehydrate: async (...asked) => {
        const journal = await store.getRehydrate(...asked);
        await noted.promise;
        return journal;
      },
      moveRehydrate: async (...moved) => {
        const isNote = moved[0].phase === 'created';
        if (isNote) renew();
        const outcome = await store.moveRehydrate(...moved);
        noted.resolve();
        if (isNote) await setImmediate();
        return outcome;
      },
    };
    const rehydrate = createRehydrate({ ...deps, store: late, clock: { ...stage.clock, every } });
    let seen: RehydrateJournal | undefined;
    stage.world.duringRestore = () => {
      seen = stage.store.tables.rehydrates.values().next().value;
    };
    await rehydrate({ sessionId: SESSION }, { deadlineMs: stage.clock.nowMs() + 900_000 });
    expect(seen).toMatchObject({ phase: 'created', sandboxId: expect.any(String) });
  });

  test('reads the bundles while the sandbox is made', async () => {
    const { stage } = await createLostStage();
    const instance = stage.instance();
    const { sandboxes, bundles } = instance.deps;
    const create = sandboxes.create.bind(sandboxes);
    const get = bundles.get.bind(bundles);
    const began = Promise.withResolvers<void>();
    bundles.get = (bundle) => {
      began.resolve();
      return get(bundle);
    };
    sandboxes.create = async (how) => {
      await began.promise;
      return create(how);
    };
    expect((await instance.rehydrate({})).warnings).toEqual([]);
  });

  test('that cannot make a sandbox says so, whatever became of the bundles', async () => {
    const { stage } = await createLostStage();
    for (const key of stage.bucket.objects.keys()) stage.bucket.objects.set(key, Buffer.from('damaged'));
    const instance = stage.instance();
    instance.deps.sandboxes.create = () =>
      Promise.reject(new WalkbackError('SandboxUnavailable', 'no room', { retryable: true }));
    await failing(instance.rehydrate({}), 'SandboxUnavailable');
  });

  test('every call without a request id makes a copy of its own', async () => {
    const { stage } = await createLostStage();
    const a = await stage.instance().rehydrate({ messageId: 'm1' });
    const b = await stage.instance().rehydrate({ messageId: 'm1' });
    expect(a.sandboxId).not.toBe(b.sandboxId);
    expect(stage.store.tables.copies.size).toBe(2);
  });

  test('resume makes it the home of the session', async () => {
    const { stage, files } = await createLostStage();
    const answer = await stage.instance().rehydrate({ mode: 'resume', requestId: 'h1' });
    expect(answer.epoch).toBe(2);
    expect(stage.session()).toMatchObject({ sandboxId: answer.sandboxId, epoch: 2, headSeq: 4 });
    expect(stage.world.filesOf(answer.sandboxId)).toEqual(files);
    await failing(stage.instance().checkpoint('m4', 't4', { epoch: 1 }), 'StaleEpoch');
    const next = await stage.instance().checkpoint('m4', 't4', { epoch: 2 });
    expect(next.repositories.every(({ changed }) => !changed)).toBe(true);
  });

  test('resuming an earlier message is a rollback at the same time', async () => {
    const { stage } = await createLostStage();
    const answer = await stage.instance().rehydrate({ mode: 'resume', messageId: 'm1', requestId: 'h1' });
    expect(stage.session()).toMatchObject({ headSeq: 2, epoch: 2 });
    expect(stage.world.filesOf(answer.sandboxId).api).toEqual({ 'a.txt': 'two' });
    const { messages } = await stage.instance().timeline({ sessionId: 'session-1' });
    expect(messages.map(({ discarded }) => discarded)).toEqual([false, true, true]);
  });

  test('the same request gives the same sandbox, another meaning RequestConflict', async () => {
    const { stage } = await createLostStage();
    const first = await stage.instance().rehydrate({ requestId: 'h1' });
    expect(await stage.instance().rehydrate({ requestId: 'h1' })).toEqual(first);
    await failing(stage.instance().rehydrate({ requestId: 'h1', mode: 'resume' }), 'RequestConflict');
    expect(running(stage)).toHaveLength(1);
  });

  test('says so when its sandbox has gone meanwhile', async () => {
    const { stage } = await createLostStage();
    const { sandboxId } = await stage.instance().rehydrate({ requestId: 'h1' });
    stage.world.running.delete(sandboxId);
    const { message } = await failing(stage.instance().rehydrate({ requestId: 'h1' }), 'SandboxNotFound');
    expect(message).toContain('new requestId');
  });

  test('a failed one leaves no sandbox, and stays failed for its request', async () => {
    const { stage } = await createLostStage();
    for (const key of stage.bucket.objects.keys()) stage.bucket.objects.set(key, Buffer.from('damaged'));
    await failing(stage.instance().rehydrate({ requestId: 'h1', mode: 'resume' }), 'BundleCorrupt');
    expect(running(stage)).toEqual([]);
    expect(stage.session().busy).toBeUndefined();
    await failing(stage.instance().rehydrate({ requestId: 'h1', mode: 'resume' }), 'BundleCorrupt');
  });

  test('a missing bundle is BundleMissing', async () => {
    const { stage } = await createLostStage();
    stage.bucket.objects.clear();
    await failing(stage.instance().rehydrate({ requestId: 'h1' }), 'BundleMissing');
    expect(running(stage)).toEqual([]);
  });

  test('a sandbox that did not arrive at the target is killed', async () => {
    const { stage } = await createLostStage();
    const restore = stage.world.repositories.restore.bind(stage.world.repositories);
    stage.world.repositories.restore = async (sandbox, request) => {
      const report = await restore(sandbox, request);
      return { ...report, repositories: report.repositories.map((one) => ({ ...one, verified: null })) };
    };
    await failing(stage.instance().rehydrate({ requestId: 'h1' }), 'RehydrateFailed');
    expect(running(stage)).toEqual([]);
  });

  test('checkpoints wait while a resume runs', async () => {
    const stage = await createWorkingStage();
    let refused: Error | undefined;
    const create = stage.world.sandboxes.create.bind(stage.world.sandboxes);
    stage.world.sandboxes.create = async (options) => {
      refused = await failing(stage.instance().checkpoint('m3', 't3'), 'RollbackInProgress');
      return create(options);
    };
    await stage.instance().rehydrate({ mode: 'resume', requestId: 'h1' });
    expect(refused?.message).toContain('resume "h1"');
  });

  test('a newer call of the same request takes over, and the older one cannot finish', async () => {
    const { stage } = await createLostStage();
    const create = stage.world.sandboxes.create.bind(stage.world.sandboxes);
    let newer: Promise<{ sandboxId: string }> | undefined;
    stage.world.sandboxes.create = async (options) => {
      stage.world.sandboxes.create = create;
      const made = await create(options);
      newer = stage.instance().rehydrate({ requestId: 'h1' });
      await newer;
      return made;
    };
    // It is told the answer of the other, or to ask again; never a second sandbox.
    const older = await stage
      .instance()
      .rehydrate({ requestId: 'h1' })
      .catch(() => stage.instance().rehydrate({ requestId: 'h1' }));
    expect(older.sandboxId).toBe((await newer)?.sandboxId);
    expect(running(stage)).toEqual([older.sandboxId]);
  });

  test('a call whose request another one works on waits, but no longer than it has, and makes nothing', async () => {
    const { stage } = await createLostStage();
    await stage.instance().rehydrate({ requestId: 'h1' });
    const [[name, done]] = [...stage.store.tables.rehydrates] as [[string, RehydrateJournal]];
    const { result: _result, ...open } = done;
    const heldUntilMs = stage.clock.now().getTime() + 3_600_000;
    stage.store.tables.rehydrates.set(name, { ...open, phase: 'created', heldUntilMs });
    const before = stage.clock.now().getTime();
    const told = await failing(stage.instance().rehydrate({ requestId: 'h1' }), 'RequestConflict');
    expect(told.retryable).toBe(true);
    const waitedMs = stage.clock.now().getTime() - before;
    expect(waitedMs).toBeGreaterThan(890_000);
    expect(waitedMs).toBeLessThan(900_000);
    expect(running(stage)).toEqual([done.sandboxId]);
  });

  test('leftovers of a request that died twice are cleaned up', async () => {
    const { stage } = await createLostStage();
    const create = stage.world.sandboxes.create.bind(stage.world.sandboxes);
    // A create whose answer is lost, and which the client of the control plane repeats: two sandboxes.
    stage.world.sandboxes.create = async (options) => {
      stage.world.sandboxes.create = create;
      await create(options);
      await create(options);
      throw new Death('killed');
    };
    const dying = createCounter();
    await stage
      .instance(dying)
      .rehydrate({ requestId: 'h1' })
      .catch(() => undefined);
    expect(running(stage)).toHaveLength(2);
    const { sandboxId } = await stage.instance().rehydrate({ requestId: 'h1' });
    expect(running(stage)).toEqual([sandboxId]);
  });

  test.each(['review', 'resume'] as const)(
    'the next call of a %s gets a sandbox of its own while the one before kills its own',
    async (mode) => {
      const { stage, files } = await createLostStage();
      const { sandboxes, repositories } = stage.world;
      const kill = sandboxes.kill.bind(sandboxes);
      const restore = repositories.restore.bind(repositories);
      const isFound = Promise.withResolvers<void>();
      const isKilled = Promise.withResolvers<void>();
      sandboxes.kill = async (sandboxId) => {
        sandboxes.kill = kill;
        await isFound.promise;
        const wasThere = await kill(sandboxId);
        isKilled.resolve();
        return wasThere;
      };
      const broken = new WalkbackError('SandboxUnavailable', 'broken', { retryable: true });
      repositories.restore = () => {
        repositories.restore = async (sandbox, request) => {
          repositories.restore = restore;
          isFound.resolve();
          await isKilled.promise;
          return restore(sandbox, request);
        };
        return Promise.reject(broken);
      };
      const call = () => stage.instance().rehydrate({ requestId: 'h1', mode });
      const [first, next] = await Promise.allSettled([call(), call()]);
      expect(first).toMatchObject({ status: 'rejected', reason: broken });
      if (next.status === 'rejected') throw next.reason;
      expect(running(stage)).toEqual([next.value.sandboxId]);
      expect(stage.world.filesOf(next.value.sandboxId)).toEqual(files);
    },
  );

  test('a session that ended can be reviewed and not resumed', async () => {
    const { stage } = await createLostStage();
    await stage.instance().endSession();
    await failing(stage.instance().rehydrate({ mode: 'resume' }), 'SessionEnded');
    await stage.instance().rehydrate({});
  });

  test('what a checkpoint failed to capture comes back as it was last known, with a warning', async () => {
    const stage = await createWorkingStage();
    failCapturesOf(stage, 'web');
    await stage.instance().checkpoint('m3', 't3');
    const { sandboxId, warnings } = await stage.instance().rehydrate({});
    expect(warnings).toEqual([expect.stringContaining('web: older than the rest')]);
    expect(stage.world.filesOf(sandboxId).web).toEqual({ 'w.txt': 'two', 'new.txt': 'new' });
  });
});

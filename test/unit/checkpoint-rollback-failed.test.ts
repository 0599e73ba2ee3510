/** Rollbacks that end without having been applied, over the model of the ports. */
import { describe, expect, test } from 'vitest';
import { WalkbackError } from '../../core/shared/errors.ts';
import { failing } from '../support/fakes/failing.ts';
import { Death } from '../support/fakes/faults.ts';
import { journalOf, nextRestore } from '../support/fakes/rollbacks.ts';
import { createWorkingStage, SANDBOX, type Stage } from '../support/fakes/stage.ts';

describe('a rollback that cannot be applied', () => {
  const conflict = {
    outcome: 'refused',
    problems: [{ path: 'api', kind: 'conflict', message: 'an ignored file stands in the way' }],
  } as const;

  test('ends as failed, stays failed for its request, and the session goes on', async () => {
    const stage = await createWorkingStage();
    nextRestore(stage, { ...conflict, problems: [...conflict.problems] });
    const before = stage.world.filesOf(SANDBOX);
    const { rollback, checkpoint } = stage.instance();
    const first = await failing(rollback({ messageId: 'm1', requestId: 'r1' }), 'RestoreConflict');
    const again = await failing(rollback({ messageId: 'm1', requestId: 'r1' }), 'RestoreConflict');
    expect(again.message).toBe(first.message);
    expect(stage.world.filesOf(SANDBOX)).toEqual(before);
    expect(stage.session()).toMatchObject({ epoch: 2, headSeq: 4 });
    expect(stage.session().busy).toBeUndefined();
    await checkpoint('m3', 't3', { epoch: 2 });
    expect(stage.checkpoints().at(-1)).toMatchObject({ parentSeq: 4 });
    await rollback({ messageId: 'm1', requestId: 'r2' });
  });

  test('that was put back stands on its undo checkpoint', async () => {
    const stage = await createWorkingStage();
    nextRestore(stage, {
      outcome: 'reverted',
      problems: [{ path: 'api', kind: 'failed', message: 'no space left' }],
    });
    const error = await failing(
      stage.instance().rollback({ messageId: 'm1', requestId: 'r1' }),
      'RestoreFailed',
    );
    expect(error.message).toContain('Everything was put back');
    expect(stage.session().headSeq).toBe(journalOf(stage, 'r1')?.undoSeq);
  });

  test.each([
    ['the same request', 'finishes it', 'done', 'two'],
    ['the next checkpoint', 'closes it, for it had written nothing', 'failed', 'three'],
  ] as const)('that could not even be put back stays open, and %s %s', async (next, _, phase, content) => {
    const stage = await createWorkingStage();
    nextRestore(stage, {
      outcome: 'broken',
      problems: [{ path: 'api', kind: 'failed', message: 'no space left' }],
    });
    const { rollback, checkpoint } = stage.instance();
    await failing(rollback({ messageId: 'm1', requestId: 'r1' }), 'RollbackIncomplete');
    expect(stage.session().busy).toMatchObject({ requestId: 'r1' });
    if (next === 'the next checkpoint') await checkpoint('m3', 't3');
    else await rollback({ messageId: 'm1', requestId: 'r1' });
    expect(journalOf(stage, 'r1')?.phase).toBe(phase);
    expect(stage.world.filesOf(SANDBOX).api).toEqual({ 'a.txt': content });
    expect(stage.session().epoch).toBe(2);
    expect(stage.session().busy).toBeUndefined();
  });

  test.each(['refused', 'reverted'] as const)(
    'of which a process was ended from outside stays open, and the same request finishes it (%s)',
    async (outcome) => {
      const stage = await createWorkingStage();
      nextRestore(stage, {
        outcome,
        problems: [{ path: 'api', kind: 'interrupted', message: 'the process was ended from outside' }],
      });
      const { rollback } = stage.instance();
      const error = await failing(rollback({ messageId: 'm1', requestId: 'r1' }), 'SandboxUnavailable');
      expect(error.retryable).toBe(true);
      expect(['started', 'writing']).toContain(journalOf(stage, 'r1')?.phase);
      await rollback({ messageId: 'm1', requestId: 'r1' });
      expect(journalOf(stage, 'r1')?.phase).toBe('done');
    },
  );

  test('beside other writers names what they wrote and where it is kept', async () => {
    const stage = await createWorkingStage();
    nextRestore(stage, {
      outcome: 'reverted',
      problems: [{ path: 'api', kind: 'failed', message: 'no space left' }],
      asides: [{ path: 'api', directory: '/projects/.agent-shadow/aside', late: ['log'], open: [] }],
    });
    const error = await failing(
      stage.instance().rollback({ messageId: 'm1', requestId: 'r1' }),
      'RestoreFailed',
    );
    expect(error.message).toContain('/projects/.agent-shadow/aside');
    expect(error.message).toContain('written by another process after the capture: log');
  });

  test('a sandbox that changed in between is captured again', async () => {
    const stage = await createWorkingStage();
    nextRestore(stage, {
      outcome: 'refused',
      problems: [{ path: 'api', kind: 'changed', message: 'it changed' }],
    });
    await stage.instance().rollback({ messageId: 'm1', requestId: 'r1' });
    expect(journalOf(stage, 'r1')).toMatchObject({ phase: 'done', captures: 2, undoSeq: 4 });
  });

  test('a sandbox that never stops changing ends it, with nothing lost', async () => {
    const stage = await createWorkingStage();
    const restore = stage.world.repositories.restore.bind(stage.world.repositories);
    let writes = 0;
    stage.world.repositories.restore = (sandbox, request) => {
      stage.edit('api', { 'a.txt': `busy ${writes++}` });
      return restore(sandbox, request);
    };
    await failing(stage.instance().rollback({ messageId: 'm1', requestId: 'r1' }), 'SandboxChanged');
    expect(stage.session().busy).toBeUndefined();
    expect(stage.world.filesOf(SANDBOX).api).toEqual({ 'a.txt': `busy ${writes - 1}` });
    // The session stands on the last capture, which the sandbox has moved on from.
    expect(stage.session().headSeq).toBe(stage.checkpoints().at(-1)?.seq);
  });

  test('because the sandbox refuses the call for good: ends too, begun by now or before', async () => {
    const refusal = new WalkbackError('InvalidInput', 'The sandbox refuses to be asked so.');
    const stage = await createWorkingStage();
    const before = stage.world.filesOf(SANDBOX);
    const { rollback, checkpoint } = stage.instance();
    const restore = stage.world.repositories.restore.bind(stage.world.repositories);
    stage.world.repositories.restore = async () => {
      throw refusal;
    };
    await failing(rollback({ messageId: 'm1', requestId: 'r1' }), 'InvalidInput');
    expect(journalOf(stage, 'r1')).toMatchObject({ phase: 'failed', error: { name: 'InvalidInput' } });
    await checkpoint('m3', 't3', { epoch: 2 });
    stage.world.duringRestore = () => {
      throw new Death('killed');
    };
    stage.world.repositories.restore = restore;
    await rollback({ messageId: 'm1', requestId: 'r2' }).catch(() => undefined);
    stage.world.duringRestore = () => undefined;
    // The target is refused, the way back is not.
    stage.world.repositories.restore = (sandbox, request) => {
      if (request.repositories.some(({ path, target }) => path === 'late' && target === null)) throw refusal;
      return restore(sandbox, request);
    };
    await failing(rollback({ messageId: 'm1', requestId: 'r2' }), 'InvalidInput');
    expect(journalOf(stage, 'r2')?.phase).toBe('failed');
    expect(stage.session().busy).toBeUndefined();
    expect(stage.world.filesOf(SANDBOX)).toEqual(before);
  });

  test.each([
    ['BundleMissing', (stage: Stage) => stage.bucket.objects.clear()],
    [
      'BundleCorrupt',
      (stage: Stage) => {
        for (const key of stage.bucket.objects.keys()) stage.bucket.objects.set(key, Buffer.from('damaged'));
      },
    ],
  ] as const)('%s in the bucket changes nothing', async (name, damage) => {
    const stage = await createWorkingStage();
    stage.world.running.get(SANDBOX)?.commits.clear();
    stage.world.running.get(SANDBOX)?.snapshots.clear();
    const before = stage.world.filesOf(SANDBOX);
    const commit = stage.store.commitCheckpoint.bind(stage.store);
    // After the rollback has begun.
    stage.store.commitCheckpoint = async (write) => {
      const outcome = await commit(write);
      damage(stage);
      return outcome;
    };
    await failing(stage.instance().rollback({ messageId: 'm1', requestId: 'r1' }), name);
    expect(stage.world.filesOf(SANDBOX)).toEqual(before);
    expect(stage.session().busy).toBeUndefined();
    expect(journalOf(stage, 'r1')?.phase).toBe('failed');
  });

  const DAMAGES = [
    ['BundleMissing', (stage: Stage) => stage.bucket.objects.clear()],
    [
      'BundleCorrupt',
      (stage: Stage) => {
        for (const key of stage.bucket.objects.keys()) stage.bucket.objects.set(key, Buffer.alloc(0));
      },
    ],
    ['BundleMissing', (stage: Stage) => stage.store.tables.bases.clear()],
    ['BundleMissing', (stage: Stage) => stage.store.tables.links.clear()],
  ] as const;

  test.each(DAMAGES)('%s is found before anything is begun (damage %#)', async (name, damage) => {
    const stage = await createWorkingStage();
    stage.world.running.get(SANDBOX)?.commits.clear();
    stage.world.running.get(SANDBOX)?.snapshots.clear();
    damage(stage);
    const before = { files: stage.world.filesOf(SANDBOX), session: stage.session() };
    await failing(stage.instance().rollback({ messageId: 'm1', requestId: 'r1' }), name);
    expect({ files: stage.world.filesOf(SANDBOX), session: stage.session() }).toEqual(before);
    expect(journalOf(stage, 'r1')).toBeUndefined();
  });

  test.each(DAMAGES)(
    '%s in the store does not stop a sandbox that has everything (damage %#)',
    async (_name, damage) => {
      const stage = await createWorkingStage();
      damage(stage);
      const done = await stage.instance().rollback({ messageId: 'm1', requestId: 'r1' });
      expect(done.status).toBe('APPLIED');
      expect(stage.world.filesOf(SANDBOX)['api']).toEqual({ 'a.txt': 'two' });
    },
  );

  test('a bundle that is lost after a run was killed ends it where it began, and the session is free', async () => {
    const stage = await createWorkingStage();
    const before = stage.world.filesOf(SANDBOX);
    stage.world.duringRestore = (index) => {
      if (index > 0) throw new Death('killed');
    };
    const { rollback } = stage.instance();
    await rollback({ messageId: 'm1', requestId: 'r1' }).catch(() => undefined);
    stage.world.duringRestore = () => undefined;
    const target = stage.checkpoints().find(({ messageId }) => messageId === 'm1');
    for (const { path, commit } of target?.repositories ?? [])
      stage.world.running.get(SANDBOX)?.commits.delete(`${path}\n${commit}`);
    stage.bucket.objects.clear();
    await failing(rollback({ messageId: 'm1', requestId: 'r1' }), 'BundleMissing');
    expect(stage.world.filesOf(SANDBOX)).toEqual(before);
    expect(stage.session().busy).toBeUndefined();
    expect(journalOf(stage, 'r1')?.phase).toBe('failed');
  });
});

/** Rollbacks whose function died, and who ends them, over the model of the ports. */
import { describe, expect, test } from 'vitest';
import { failing } from '../support/fakes/failing.ts';
import { Death } from '../support/fakes/faults.ts';
import { checkpointIdOf, journalOf, nextRestore } from '../support/fakes/rollbacks.ts';
import { createWorkingStage, SANDBOX } from '../support/fakes/stage.ts';

describe('a rollback that died while it wrote', () => {
  const dyingAt = async (index: number, death: Error) => {
    const stage = await createWorkingStage();
    const before = stage.world.filesOf(SANDBOX);
    stage.world.duringRestore = (at) => {
      if (at === index) throw death;
    };
    await stage
      .instance()
      .rollback({ messageId: 'm1', requestId: 'r1' })
      .catch(() => undefined);
    stage.world.duringRestore = () => undefined;
    return { stage, before };
  };

  test('is finished by the same request, and its undo is the state before the first try', async () => {
    for (const index of [0, 1, 2, 3]) {
      const { stage, before } = await dyingAt(index, new Death('killed'));
      const answer = await stage.instance().rollback({ messageId: 'm1', requestId: 'r1' });
      expect(stage.world.filesOf(SANDBOX).api).toEqual({ 'a.txt': 'two' });
      expect(stage.session()).toMatchObject({ epoch: 2, headSeq: 2 });
      await stage.instance().rollback({ checkpointId: answer.undoCheckpointId ?? '', requestId: 'undo' });
      expect(stage.world.filesOf(SANDBOX)).toEqual(before);
    }
  });

  test('is finished by another request, after its deadline and not before', async () => {
    const { stage } = await dyingAt(2, new Death('killed'));
    const { rollback } = stage.instance();
    const busy = await failing(rollback({ messageId: 'm2', requestId: 'r2' }), 'RollbackInProgress');
    const untilMs = Number(busy.details.untilMs);
    expect(busy.message).toContain(` until ${new Date(untilMs).toISOString()} at the latest. Try again`);
    stage.passMs(untilMs - stage.clock.now().getTime());
    await rollback({ messageId: 'm2', requestId: 'r2' });
    expect(journalOf(stage, 'r1')?.phase).toBe('done');
    expect(stage.session()).toMatchObject({ epoch: 3, headSeq: 3 });
    expect(stage.world.filesOf(SANDBOX).web).toEqual({ 'w.txt': 'two', 'new.txt': 'new' });
  });

  test('goes back when the target cannot be reached any more', async () => {
    const { stage, before } = await dyingAt(2, new Death('killed'));
    nextRestore(stage, {
      outcome: 'refused',
      problems: [{ path: 'api', kind: 'conflict', message: 'in the way' }],
    });
    await failing(stage.instance().rollback({ messageId: 'm1', requestId: 'r1' }), 'RestoreConflict');
    expect(stage.world.filesOf(SANDBOX)).toEqual(before);
    expect(stage.session().headSeq).toBe(journalOf(stage, 'r1')?.undoSeq);
    expect(stage.session().busy).toBeUndefined();
  });

  test('ends when its sandbox is gone for good, and the session can be resumed', async () => {
    const { stage } = await dyingAt(2, new Death('killed'));
    stage.world.running.delete(SANDBOX);
    stage.passMs(1_000_000);
    await failing(stage.instance().checkpoint('m3', 't3'), 'SandboxNotFound');
    expect(journalOf(stage, 'r1')?.phase).toBe('failed');
    const { sandboxId } = await stage.instance().rehydrate({ mode: 'resume', requestId: 'h1' });
    expect(stage.session()).toMatchObject({ sandboxId, epoch: 3 });
  });

  test('is finished by no plan: not by one of its own request, nor by another after its deadline', async () => {
    const { stage } = await dyingAt(2, new Death('killed'));
    const { rollback } = stage.instance();
    const all = () => structuredClone({ tables: stage.store.tables, files: stage.world.filesOf(SANDBOX) });
    const before = all();
    const own = await rollback({ messageId: 'm1', requestId: 'r1', dryRun: true });
    expect(own).toMatchObject({ status: 'PLANNED', checkpointId: checkpointIdOf(stage, 2), warnings: [] });
    const other = { messageId: 'm2', requestId: 'r2', dryRun: true };
    await failing(rollback(other), 'RollbackInProgress');
    stage.passMs(1_000_000);
    expect(await rollback(other)).toMatchObject({
      status: 'PLANNED',
      warnings: [expect.stringContaining('rollback "r1" is not finished')],
    });
    expect(all()).toEqual(before);
    const done = await rollback({ messageId: 'm1', requestId: 'r1' });
    expect(await rollback({ messageId: 'm1', requestId: 'r1', dryRun: true })).toEqual(done);
  });

  test('is given up by a resume when nobody can finish it', async () => {
    const { stage } = await dyingAt(2, new Death('killed'));
    stage.passMs(1_000_000);
    nextRestore(stage, { outcome: 'broken', problems: [{ path: 'api', kind: 'failed', message: 'full' }] });
    const { sandboxId } = await stage.instance().rehydrate({ mode: 'resume', requestId: 'h1' });
    expect(journalOf(stage, 'r1')).toMatchObject({ phase: 'failed', error: { name: 'RollbackIncomplete' } });
    expect(stage.session()).toMatchObject({ sandboxId, epoch: 3 });
    await failing(stage.instance().rollback({ messageId: 'm1', requestId: 'r1' }), 'RollbackIncomplete');
  });
});

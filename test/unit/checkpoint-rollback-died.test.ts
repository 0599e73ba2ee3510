/** Rollbacks whose function died, and who ends them, over the model of the ports. */
import { describe, expect, test } from 'vitest';
import { failing } from '../support/fakes/failing.ts';
import { createCounter, Death } from '../support/fakes/faults.ts';
import { checkpointIdOf, journalOf, nextRestore } from '../support/fakes/rollbacks.ts';
import { createWorkingStage, SANDBOX, SESSION, type Stage } from '../support/fakes/stage.ts';

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

  const half = async (stage: Stage) => {
    const { checkpoints } = await stage.instance().timeline({ sessionId: SESSION });
    const brief = await stage.instance().timeline({ sessionId: SESSION, brief: true });
    const marked = (all: typeof checkpoints) =>
      all.filter(({ halfWritten }) => halfWritten === true).map(({ seq }) => seq);
    expect(marked(brief.checkpoints)).toEqual(marked(checkpoints));
    return checkpoints.filter(({ halfWritten }) => halfWritten === true);
  };

  test('leaves a checkpoint that says that it may be half written, and so does whoever goes there', async () => {
    for (const settles of [false, true]) {
      const { stage } = await dyingAt(2, new Death('killed'));
      expect(await half(stage)).toEqual([]);
      if (settles) {
        stage.passMs(1_000_000);
        await stage.instance().checkpoint('m3', 't3');
      } else {
        const { warnings } = await stage.instance().rollback({ messageId: 'm1', requestId: 'r1' });
        expect(warnings).toEqual([
          `it had broken off while it wrote; what was there when it went on is checkpoint ${checkpointIdOf(stage, 5)}`,
        ]);
      }
      const [found, ...others] = await half(stage);
      expect(others).toEqual([]);
      expect(found).toMatchObject({ reason: 'rollback', seq: 5 });
      const checkpointId = found?.checkpointId ?? '';
      const said = expect.arrayContaining([
        expect.stringContaining(`${checkpointId} was taken where a rollback had broken off`),
      ]);
      const plan = { checkpointId, requestId: 'r2', dryRun: true };
      expect(await stage.instance().rollback(plan)).toMatchObject({ warnings: said });
      expect(await stage.instance().rollback({ ...plan, paths: ['api/a.txt'] })).toMatchObject({
        warnings: said,
      });
      expect(await stage.instance().rehydrate({ checkpointId, requestId: 'h' })).toMatchObject({
        warnings: said,
      });
      const fork = await stage.instance().fork({ checkpointId });
      expect(fork.warnings).toEqual([expect.stringContaining('had broken off')]);
      expect(await stage.instance().rollback({ ...plan, dryRun: false })).toMatchObject({ warnings: said });
      await stage.instance().rollback({ messageId: 'm1', requestId: 'r3' });
      expect((await half(stage)).map(({ seq }) => seq)).toEqual([5]);
    }
  });

  test('marks nothing where it had written nothing, or all of it', async () => {
    for (const when of ['before', 'after'] as const) {
      let isKilled = false;
      for (let at = 1; !isKilled; at += 1) {
        const stage = await createWorkingStage();
        const counter = createCounter({ at, when, kind: 'death' });
        const asked = { messageId: 'm1', requestId: 'r1' };
        await stage
          .instance(counter)
          .rollback(asked)
          .catch(() => undefined);
        isKilled = counter.calls[at - 1] === 'repositories.restore';
        if (!isKilled) continue;
        await stage.instance().rollback(asked);
        expect(journalOf(stage, 'r1')?.captures, when).toBe(2);
        expect(await half(stage), when).toEqual([]);
      }
    }
  });

  test('is put back by another request, after its deadline and not before', async () => {
    const { stage } = await dyingAt(2, new Death('killed'));
    const { rollback } = stage.instance();
    const busy = await failing(rollback({ messageId: 'm2', requestId: 'r2' }), 'RollbackInProgress');
    const untilMs = Number(busy.details.untilMs);
    expect(busy.message).toContain(` until ${new Date(untilMs).toISOString()} at the latest. Try again`);
    stage.passMs(untilMs - stage.clock.now().getTime());
    await rollback({ messageId: 'm2', requestId: 'r2' });
    expect(journalOf(stage, 'r1')).toMatchObject({ phase: 'failed', settled: { outcome: 'undone' } });
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

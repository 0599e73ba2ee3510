/** Rolling back, in the session's sandbox and in review copies, over the model of the ports. */
import { describe, expect, test } from 'vitest';
import { WalkbackError } from '../../core/errors.ts';
import type { RestoreReport } from '../../core/ports.ts';
import { failing } from '../support/fakes/failing.ts';
import { Death } from '../support/fakes/faults.ts';
import { createWorkingStage, SANDBOX, SESSION, type Stage } from '../support/fakes/stage.ts';

const journalOf = (stage: Stage, requestId: string) =>
  stage.store.tables.rollbacks.get(`${SESSION}\n${requestId}`);
const checkpointIdOf = (stage: Stage, seq: number): string =>
  stage.checkpoints()[seq - 1]?.checkpointId ?? '';

/** Makes the next restore answer this instead of working. */
const nextRestore = (stage: Stage, answer: Partial<RestoreReport>): void => {
  const restore = stage.world.repositories.restore.bind(stage.world.repositories);
  stage.world.repositories.restore = async (...args) => {
    stage.world.repositories.restore = restore;
    const report = await restore(args[0], { ...args[1], dryRun: true });
    return { ...report, ...answer };
  };
};

describe('rollback', () => {
  test('answers the contract, and puts every repository where it was', async () => {
    const stage = await createWorkingStage();
    const answer = await stage.instance().rollback({ messageId: 'm1', requestId: 'r1' });
    expect(answer).toMatchObject({
      status: 'APPLIED',
      checkpointId: checkpointIdOf(stage, 2),
      epoch: 2,
      undoCheckpointId: checkpointIdOf(stage, 4),
      discardedMessageIds: ['m2'],
      trimAfterMessageId: 'm1',
    });
    expect(answer.repositories.map(({ path }) => path)).toEqual(['api', 'late', 'notes', 'web']);
    expect(stage.world.filesOf(SANDBOX)).toEqual({
      api: { 'a.txt': 'two' },
      notes: { 'n.txt': 'one' },
      web: { 'w.txt': 'one' },
    });
    expect(stage.world.running.get(SANDBOX)?.parked).toHaveLength(1);
    expect(stage.session()).toMatchObject({ epoch: 2, headSeq: 2, seq: 4 });
    expect(stage.session().busy).toBeUndefined();
  });

  test('back to the baseline trims everything', async () => {
    const stage = await createWorkingStage();
    const answer = await stage
      .instance()
      .rollback({ checkpointId: checkpointIdOf(stage, 1), requestId: 'r1' });
    expect(answer).toMatchObject({ discardedMessageIds: ['m1', 'm2'], trimAfterMessageId: null });
  });

  test('can be undone, and the undo can be undone', async () => {
    const stage = await createWorkingStage();
    const before = stage.world.filesOf(SANDBOX);
    const { rollback } = stage.instance();
    const back = await rollback({ messageId: 'm1', requestId: 'r1' });
    const after = stage.world.filesOf(SANDBOX);
    const undone = await rollback({ checkpointId: back.undoCheckpointId ?? '', requestId: 'r2' });
    expect(stage.world.filesOf(SANDBOX)).toEqual(before);
    expect(undone.discardedMessageIds).toEqual([]);
    await rollback({ checkpointId: undone.undoCheckpointId ?? '', requestId: 'r3' });
    expect(stage.world.filesOf(SANDBOX)).toEqual(after);
    expect(stage.session().epoch).toBe(4);
  });

  test('new work grows a branch, and the one left behind stays reachable', async () => {
    const stage = await createWorkingStage();
    const { rollback, checkpoint } = stage.instance();
    await checkpoint('m3', 't3');
    const left = stage.world.filesOf(SANDBOX);
    await rollback({ messageId: 'm1', requestId: 'r1' });
    stage.edit('api', { 'a.txt': 'another way' });
    await checkpoint('m4', 't4');
    expect(stage.checkpoints().at(-1)).toMatchObject({ parentSeq: 2, messageId: 'm4', messageOrder: 4 });
    const answer = await rollback({ messageId: 'm3', requestId: 'r2' });
    expect(stage.world.filesOf(SANDBOX)).toEqual(left);
    expect(answer.discardedMessageIds).toEqual(['m4']);
  });

  test('to a message means its last checkpoint, and never the capture of a rollback', async () => {
    const stage = await createWorkingStage();
    const { rollback, checkpoint } = stage.instance();
    await checkpoint('m2', 't3');
    stage.edit('api', { 'a.txt': 'not part of any message yet' });
    await rollback({ messageId: 'm1', requestId: 'r1' });
    await rollback({ messageId: 'm2', requestId: 'r2' });
    expect(stage.world.filesOf(SANDBOX).api).toEqual({ 'a.txt': 'three' });
  });

  test('the same request gives the same answer, another meaning RequestConflict', async () => {
    const stage = await createWorkingStage();
    const { rollback } = stage.instance();
    const first = await rollback({ messageId: 'm1', requestId: 'r1' });
    stage.edit('api', { 'a.txt': 'work after it' });
    expect(await rollback({ messageId: 'm1', requestId: 'r1' })).toEqual(first);
    expect(stage.world.filesOf(SANDBOX).api).toEqual({ 'a.txt': 'work after it' });
    await failing(rollback({ messageId: 'm2', requestId: 'r1' }), 'RequestConflict');
    await failing(rollback({ messageId: 'm1', requestId: 'r1', filesOnly: true }), 'RequestConflict');
  });

  test('a plan changes nothing and raises no epoch', async () => {
    const stage = await createWorkingStage();
    const before = structuredClone({ tables: stage.store.tables, files: stage.world.filesOf(SANDBOX) });
    const plan = await stage.instance().rollback({ messageId: 'm1', requestId: 'r1', dryRun: true });
    expect(plan).toMatchObject({
      status: 'PLANNED',
      epoch: 1,
      undoCheckpointId: null,
      trimAfterMessageId: 'm1',
    });
    expect({ tables: stage.store.tables, files: stage.world.filesOf(SANDBOX) }).toEqual(before);
    await stage.instance().rollback({ messageId: 'm1', requestId: 'r1' });
  });

  test('unknown targets are named, with what is known', async () => {
    const stage = await createWorkingStage();
    const { rollback } = stage.instance();
    const message = await failing(rollback({ messageId: 'm7', requestId: 'r1' }), 'MessageNotFound');
    expect(message.message).toContain('m2, m1');
    const id = 'cp-00000002-00000000';
    await failing(rollback({ checkpointId: id, requestId: 'r1' }), 'CheckpointNotFound');
    expect(stage.session().epoch).toBe(1);
  });

  test('an incomplete target is refused, unless the caller says so', async () => {
    const stage = await createWorkingStage();
    const { rollback, checkpoint } = stage.instance();
    stage.world.beforeAnswer = (report) => ({
      ...report,
      repositories: report.repositories.map((one) =>
        one.path === 'web' ? { path: 'web', state: 'failed', changed: false } : one,
      ),
      failures: [{ path: 'web', reason: 'a disk error' }],
    });
    await checkpoint('m3', 't3');
    stage.world.beforeAnswer = (report) => report;
    stage.edit('web', { 'w.txt': 'later' });
    stage.edit('api', { 'a.txt': 'later' });
    await checkpoint('m4', 't4');
    const refused = await failing(rollback({ messageId: 'm3', requestId: 'r1' }), 'IncompleteTarget');
    expect(refused.message).toContain('web (a disk error)');
    expect(refused.message).toContain(checkpointIdOf(stage, 3));
    const answer = await rollback({ messageId: 'm3', requestId: 'r1', allowPartial: true });
    expect(answer.warnings).toEqual([expect.stringContaining('web: left as it is')]);
    expect(stage.world.filesOf(SANDBOX)).toMatchObject({
      api: { 'a.txt': 'three' },
      web: { 'w.txt': 'later' },
    });
  });

  test('is refused when what is there now can not be captured (C3)', async () => {
    const stage = await createWorkingStage();
    stage.world.beforeAnswer = (report) => ({
      ...report,
      repositories: report.repositories.map((one) =>
        one.path === 'web' ? { path: 'web', state: 'failed', changed: false } : one,
      ),
      failures: [{ path: 'web', reason: 'a disk error' }],
    });
    const before = stage.world.filesOf(SANDBOX);
    const { message } = await failing(
      stage.instance().rollback({ messageId: 'm1', requestId: 'r1' }),
      'CaptureFailed',
    );
    expect(message).toContain('web: a disk error');
    expect(stage.world.filesOf(SANDBOX)).toEqual(before);
    expect(stage.session()).toMatchObject({ headSeq: 3, epoch: 2 });
    expect(stage.session().busy).toBeUndefined();
  });

  test('a gone sandbox is found out before anything is written', async () => {
    const stage = await createWorkingStage();
    stage.world.running.delete(SANDBOX);
    await failing(stage.instance().rollback({ messageId: 'm1', requestId: 'r1' }), 'SandboxNotFound');
    expect(stage.session()).toMatchObject({ epoch: 1, headSeq: 3 });
    expect(journalOf(stage, 'r1')).toBeUndefined();
  });
});

describe('a rollback that can not be applied', () => {
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

  test.each(['the same request', 'the next checkpoint'])(
    'that could not even be put back stays open, and %s finishes it',
    async (next) => {
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
      expect(journalOf(stage, 'r1')?.phase).toBe('done');
      expect(stage.world.filesOf(SANDBOX).api).toEqual({ 'a.txt': 'two' });
      expect(stage.session().epoch).toBe(2);
      expect(stage.session().busy).toBeUndefined();
    },
  );

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
    const putLinks = stage.store.putLinks.bind(stage.store);
    // After the capture of now, which puts its own bundles there again.
    stage.store.putLinks = async (links) => {
      await putLinks(links);
      damage(stage);
    };
    await failing(stage.instance().rollback({ messageId: 'm1', requestId: 'r1' }), name);
    expect(stage.world.filesOf(SANDBOX)).toEqual(before);
    expect(stage.session().busy).toBeUndefined();
    expect(journalOf(stage, 'r1')?.phase).toBe('failed');
  });
});

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
    stage.passMs(Number(busy.details.untilMs) - stage.clock.now().getTime());
    await rollback({ messageId: 'm2', requestId: 'r2' });
    expect(journalOf(stage, 'r1')?.phase).toBe('done');
    expect(stage.session()).toMatchObject({ epoch: 3, headSeq: 3 });
    expect(stage.world.filesOf(SANDBOX).web).toEqual({ 'w.txt': 'two', 'new.txt': 'new' });
  });

  test('goes back when the target can not be reached any more', async () => {
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

describe('two rollbacks at once', () => {
  test('of different requests: the second waits its turn', async () => {
    const stage = await createWorkingStage();
    const results = await Promise.allSettled([
      stage.instance().rollback({ messageId: 'm1', requestId: 'r1' }),
      stage.instance().rollback({ messageId: 'm2', requestId: 'r2' }),
    ]);
    const refused = results.filter(({ status }) => status === 'rejected');
    expect(refused).toHaveLength(1);
    expect(refused[0]).toMatchObject({ reason: { name: 'RollbackInProgress' } });
    expect(stage.session().epoch).toBe(2);
  });

  test('of the same request: one rollback, one answer', async () => {
    const stage = await createWorkingStage();
    const [a, b] = await Promise.all([
      stage.instance().rollback({ messageId: 'm1', requestId: 'r1' }),
      stage.instance().rollback({ messageId: 'm1', requestId: 'r1' }),
    ]);
    expect(a).toEqual(b);
    expect(stage.session()).toMatchObject({ epoch: 2, headSeq: 2 });
    expect(stage.world.filesOf(SANDBOX).api).toEqual({ 'a.txt': 'two' });
  });
});

describe('a review copy', () => {
  const withCopy = async () => {
    const stage = await createWorkingStage();
    const { sandboxId } = await stage.instance().rehydrate({ requestId: 'h1' });
    return { stage, sandboxId };
  };

  test('moves alone: epoch, head and messages of the session stay', async () => {
    const { stage, sandboxId } = await withCopy();
    const session = { ...stage.session() };
    const files = stage.world.filesOf(SANDBOX);
    stage.edit('api', { 'a.txt': 'a reviewer tried this' }, sandboxId);
    const answer = await stage.instance().rollback({ messageId: 'm1', requestId: 'r1', sandboxId });
    expect(answer).toMatchObject({ epoch: 1, discardedMessageIds: ['m2'] });
    expect(stage.world.filesOf(sandboxId).api).toEqual({ 'a.txt': 'two' });
    expect(stage.world.filesOf(SANDBOX)).toEqual(files);
    expect(stage.session()).toMatchObject({ epoch: 1, headSeq: session.headSeq, messageCount: 2 });
    expect(stage.checkpoints().at(-1)).toMatchObject({ detached: true, reason: 'rollback', sandboxId });
    const undo = answer.undoCheckpointId ?? '';
    await stage.instance().rollback({ checkpointId: undo, requestId: 'r2', sandboxId });
    expect(stage.world.filesOf(sandboxId).api).toEqual({ 'a.txt': 'a reviewer tried this' });
  });

  test('does not get in the way of the session, nor the other way round', async () => {
    const { stage, sandboxId } = await withCopy();
    await Promise.all([
      stage.instance().rollback({ messageId: 'm1', requestId: 'r1', sandboxId }),
      stage.instance().checkpoint('m3', 't3', { epoch: 1 }),
    ]);
    expect(stage.checkpoints().find((one) => one.toolExecutionId === 't3')).toMatchObject({ parentSeq: 3 });
    expect(stage.world.filesOf(sandboxId).api).toEqual({ 'a.txt': 'two' });
  });

  test('can be rolled back after the session ended; a stranger can not', async () => {
    const { stage, sandboxId } = await withCopy();
    await stage.instance().endSession();
    await stage.instance().rollback({ messageId: 'm1', requestId: 'r1', sandboxId });
    stage.world.addSandbox('stranger', {});
    await failing(
      stage.instance().rollback({ messageId: 'm1', requestId: 'r2', sandboxId: 'stranger' }),
      'SandboxNotFound',
    );
  });
});

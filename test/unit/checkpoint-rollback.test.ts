/** Rolling back, over the model of the ports. */
import { describe, expect, test } from 'vitest';
import type { WalkbackError } from '../../core/shared/errors.ts';
import { failing } from '../support/fakes/failing.ts';
import { checkpointIdOf, failCapturesOf, journalOf } from '../support/fakes/rollbacks.ts';
import { createWorkingStage, SANDBOX } from '../support/fakes/stage.ts';

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

  test('its capture belongs to the message whose turn was cut, and is what that message means', async () => {
    const stage = await createWorkingStage();
    const { rollback, checkpoint } = stage.instance();
    await checkpoint('m2', 't3', { forMessageId: 'm3' });
    stage.edit('api', { 'a.txt': 'of m3' });
    const request = { messageId: 'm2', requestId: 'r1' };
    const told = { discardedMessageIds: ['m3'], trimAfterMessageId: 'm2' };
    expect(await rollback({ ...request, dryRun: true })).toMatchObject(told);
    expect(await rollback(request)).toMatchObject(told);
    const capture = stage.checkpoints().at(-1);
    expect(capture).toMatchObject({ reason: 'rollback', messageId: 'm3', messageOrder: 3 });
    // Now nothing of m3 is there, whatever the checkpoint was taken for.
    stage.edit('api', { 'a.txt': 'of nobody' });
    await rollback({ messageId: 'm1', requestId: 'r2' });
    expect(stage.checkpoints().at(-1)).toMatchObject({ reason: 'rollback', messageId: 'm2' });
    expect(await rollback({ messageId: 'm3', requestId: 'r3' })).toMatchObject({ trimAfterMessageId: 'm3' });
    expect(stage.world.filesOf(SANDBOX)['api']).toEqual({ 'a.txt': 'of m3' });
    await checkpoint('m4', 't4', { epoch: 4 });
    expect(stage.checkpoints().at(-1)).toMatchObject({ messageOrder: 4 });
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

  test.each(['cp-00000002-0badcafe', 'cp-00000002', 'cp-000'])(
    '%s in the place of a message id: how a checkpoint is named is told, with those that are there',
    async (messageId) => {
      const stage = await createWorkingStage();
      const { rollback, rehydrate, fork, revert } = stage.instance();
      const all = [
        rollback({ messageId, requestId: 'r1' }),
        rehydrate({ messageId, requestId: 'r2' }),
        fork({ messageId }),
        revert({ messageId, requestId: 'r3' }),
      ];
      for (const refused of all) {
        const { message, details } = await failing(refused, 'MessageNotFound');
        expect(message).toContain(`"${messageId}" was taken for a message id`);
        expect(message).toMatch(/by its whole id, as checkpointId .*checkpointIds.*cp-3/);
        expect(message).toContain(`Newest checkpoints: ${checkpointIdOf(stage, 3)}`);
        expect(details).toMatchObject({ newest: [3, 2, 1].map((seq) => checkpointIdOf(stage, seq)) });
      }
    },
  );

  test('a message may have a name that begins as those of checkpoints do', async () => {
    const stage = await createWorkingStage();
    const { rollback, checkpoint } = stage.instance();
    await checkpoint('cp-of-mine', 't3');
    const plan = { messageId: 'cp-of-mine', requestId: 'r1', dryRun: true };
    expect(await rollback(plan)).toMatchObject({ trimAfterMessageId: 'cp-of-mine' });
  });

  test('a message whose work begins after the last checkpoint is not called unknown, and its checkpoint is asked for', async () => {
    const stage = await createWorkingStage();
    const { rollback, checkpoint } = stage.instance();
    await checkpoint('m2', 't3', { forMessageId: 'm3' });
    stage.edit('api', { 'a.txt': 'of m3' });
    const last = checkpointIdOf(stage, 4);
    const plan = { messageId: 'm3', requestId: 'r1', dryRun: true };
    const { message, details } = await failing(rollback(plan), 'MessageNotFound');
    expect(message).toContain(`"m3" begins after the last checkpoint, ${last}`);
    expect(message).toMatch(/Take one .*walkback checkpoint --message m3\), then call again/);
    expect(details).toMatchObject({ messageId: 'm3', lastCheckpoint: last });
    // What it says to do helps.
    await checkpoint('m3', 't4');
    expect(await rollback(plan)).toMatchObject({ trimAfterMessageId: 'm3' });
  });

  test('of a session that has ended, nobody is told to take another checkpoint', async () => {
    const stage = await createWorkingStage();
    const { rehydrate, checkpoint, endSession } = stage.instance();
    await checkpoint('m2', 't3', { forMessageId: 'm3' });
    await endSession();
    const { message } = await failing(rehydrate({ messageId: 'm3', requestId: 'r1' }), 'MessageNotFound');
    expect(message).toContain('The session has ended');
    expect(message).not.toContain('Take one');
  });

  test('an incomplete target is refused, unless the caller says so', async () => {
    const stage = await createWorkingStage();
    const { rollback, checkpoint } = stage.instance();
    failCapturesOf(stage, 'web');
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

  test('is refused when what is there now cannot be captured (C3)', async () => {
    const stage = await createWorkingStage();
    failCapturesOf(stage, 'web');
    const before = stage.world.filesOf(SANDBOX);
    const { message } = await failing(
      stage.instance().rollback({ messageId: 'm1', requestId: 'r1' }),
      'CaptureFailed',
    );
    expect(message).toContain('web: a disk error');
    expect(stage.world.filesOf(SANDBOX)).toEqual(before);
    // Nothing was begun.
    expect(stage.session()).toMatchObject({ headSeq: 3, epoch: 1 });
    expect(stage.session().busy).toBeUndefined();
    expect(journalOf(stage, 'r1')).toBeUndefined();
  });

  test('a gone sandbox is found out before anything is written', async () => {
    const stage = await createWorkingStage();
    stage.world.running.delete(SANDBOX);
    await failing(stage.instance().rollback({ messageId: 'm1', requestId: 'r1' }), 'SandboxNotFound');
    expect(stage.session()).toMatchObject({ epoch: 1, headSeq: 3 });
    expect(journalOf(stage, 'r1')).toBeUndefined();
  });
});

describe('two rollbacks at once', () => {
  test('of different requests: the second waits its turn', async () => {
    const stage = await createWorkingStage();
    let second: Promise<WalkbackError> | undefined;
    stage.world.duringRestore = () => {
      const { rollback } = stage.instance();
      second ??= failing(rollback({ messageId: 'm2', requestId: 'r2' }), 'RollbackInProgress');
    };
    await stage.instance().rollback({ messageId: 'm1', requestId: 'r1' });
    expect((await second)?.details).toMatchObject({ requestId: 'r1' });
    expect(stage.session().epoch).toBe(2);
  });

  test('of different requests that look at the same time: one begins, and the other one looks again', async () => {
    const stage = await createWorkingStage();
    await Promise.all([
      stage.instance().rollback({ messageId: 'm1', requestId: 'r1' }),
      stage.instance().rollback({ messageId: 'm2', requestId: 'r2' }),
    ]);
    expect(stage.session()).toMatchObject({ epoch: 3, headSeq: 3 });
    expect(stage.session().busy).toBeUndefined();
    const undo = stage.checkpoints().filter(({ reason }) => reason === 'rollback');
    expect(undo.map(({ parentSeq, epoch }) => [parentSeq, epoch])).toEqual([
      [3, 2],
      [2, 3],
    ]);
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

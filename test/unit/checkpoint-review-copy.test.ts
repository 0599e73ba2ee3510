/** Rolling back a review copy, over the model of the ports. */
import { describe, expect, test } from 'vitest';
import { failing } from '../support/fakes/failing.ts';
import { createWorkingStage, SANDBOX } from '../support/fakes/stage.ts';

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

  test('can be rolled back after the session ended; a stranger cannot', async () => {
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

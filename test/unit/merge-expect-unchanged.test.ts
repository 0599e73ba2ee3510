/** A merge with `expectUnchanged`: only into a target that still is what the work was made on. */
import { expect, test } from 'vitest';
import { requireUnchanged } from '../../core/checkpoint/compose/expect-unchanged.ts';
import type { RepositoryState } from '../../core/checkpoint/model.ts';
import { errorOf } from '../support/error-of.ts';
import { createWorkingStage, SANDBOX, SESSION, type Stage } from '../support/fakes/stage.ts';

const worked = async () => {
  const stage = await createWorkingStage();
  await stage.instance().checkpoint('m2', 't3');
  const fork = await stage.instance().fork();
  stage.edit('web', { 'fork.txt': 'fork' }, fork.sandboxId);
  stage.edit('made', { 'made.txt': 'in the fork' }, fork.sandboxId);
  stage.remove('late', fork.sandboxId);
  await stage.instance().checkpoint('f1', 'f1', { sessionId: fork.sessionId });
  const merge = (more: { requestId?: string; dryRun?: boolean } = {}) =>
    stage.instance().merge({
      from: fork.sessionId,
      into: SESSION,
      requestId: 'g1',
      expectUnchanged: true,
      ...more,
    });
  return { stage, fork, merge };
};

test('what comes into an unchanged target is exactly what the fork holds', async () => {
  const { stage, fork, merge } = await worked();
  expect(await merge({ dryRun: true })).toMatchObject({ status: 'PLANNED' });
  const done = await merge();
  expect(done).toMatchObject({ status: 'APPLIED' });
  expect(stage.world.filesOf(SANDBOX)).toEqual(stage.world.filesOf(fork.sandboxId));
  // The same request is answered the same, whatever happens since.
  stage.edit('web', { 'mine.txt': 'mine' });
  expect(await merge()).toEqual(done);
  const other = { from: fork.sessionId, into: SESSION, requestId: 'g1' };
  await expect(stage.instance().merge(other)).rejects.toMatchObject({ name: 'RequestConflict' });
});

test.each([
  ['edited', 'web', (stage: Stage) => stage.edit('web', { 'mine.txt': 'mine' })],
  ['with a new repository', 'another', (stage: Stage) => stage.edit('another', { 'a.txt': 'a' })],
  ['without one that was there', 'notes', (stage: Stage) => stage.remove('notes')],
])('a target that was %s refuses, in the plan too, and nothing is changed', async (_, path, change) => {
  const { stage, merge } = await worked();
  change(stage);
  const [before, { epoch }] = [stage.world.filesOf(SANDBOX), stage.session()];
  for (const dryRun of [true, false]) {
    await expect(merge({ dryRun })).rejects.toMatchObject({
      name: 'TargetMoved',
      retryable: false,
      details: { repositories: [path] },
      message: expect.stringContaining(`${path}. Nothing was changed.`),
    });
  }
  expect(stage.world.filesOf(SANDBOX)).toEqual(before);
  expect(stage.session()).toMatchObject({ epoch });
  expect(stage.session().busy).toBeUndefined();
});

test('a target that was rolled back to before the fork refuses: the merge would bring back what was taken back', async () => {
  const { stage, merge } = await worked();
  const [first] = stage.checkpoints().filter(({ sessionId }) => sessionId === SESSION);
  await stage.instance().rollback({ checkpointId: first?.checkpointId ?? '', requestId: 'away' });
  await expect(merge()).rejects.toMatchObject(errorOf('TargetMoved', 'was rolled back to before checkpoint'));
});

test('a target that moved and is back is unchanged; so is one that a merge of the same fork made', async () => {
  const { stage, fork, merge } = await worked();
  stage.edit('web', { 'mine.txt': 'mine' });
  await stage.instance().checkpoint('m2', 'mine');
  await expect(merge()).rejects.toMatchObject({ name: 'TargetMoved' });
  await stage.instance().rollback({ checkpointId: fork.forkedFrom.checkpointId, requestId: 'back' });
  expect(await merge()).toMatchObject({ status: 'APPLIED' });

  stage.edit('web', { 'fork.txt': 'more' }, fork.sandboxId);
  await stage.instance().checkpoint('f2', 'f2', { sessionId: fork.sessionId });
  expect(await merge({ requestId: 'g2' })).toMatchObject({ status: 'APPLIED' });
  expect(stage.world.filesOf(SANDBOX)).toEqual(stage.world.filesOf(fork.sandboxId));
});

test('a repository that could not be captured is not known to be unchanged', () => {
  const states = (state: 'captured' | 'failed' | 'absent'): RepositoryState[] => [
    {
      path: 'r',
      state,
      commit: 'c',
      tree: 't',
      meta: 'm',
      changed: false,
      bundleBytes: 0,
    },
  ];
  expect(() => requireUnchanged('s', states('captured'), states('captured'))).not.toThrow();
  expect(() => requireUnchanged('s', states('absent'), [])).not.toThrow();
  expect(() => requireUnchanged('s', states('failed'), states('failed'))).toThrow(/was worked in since: r\./);
  expect(() => requireUnchanged('s', states('captured'), states('absent'))).toThrow(/r\./);
});

test('a merge that names the checkpoint that was looked at brings no later work of its source', async () => {
  const stage = await createWorkingStage();
  const fork = await stage.instance().fork();
  const work = async (file: string) => {
    stage.edit('web', { [file]: 'fork' }, fork.sandboxId);
    await stage.instance().checkpoint(file, file, { sessionId: fork.sessionId });
  };
  await work('one.txt');
  const asked = { from: fork.sessionId, into: SESSION, requestId: 'g' };
  const plan = await stage.instance().merge({ ...asked, dryRun: true });
  const act = { ...asked, epoch: plan.epoch, fromCheckpointId: plan.from.checkpointId };
  await work('two.txt');
  const before = stage.world.filesOf(SANDBOX);
  for (const dryRun of [true, false]) {
    await expect(stage.instance().merge({ ...act, dryRun })).rejects.toMatchObject(
      errorOf('SourceMoved', /Nothing was changed\. Make the plan again/),
    );
  }
  expect(stage.world.filesOf(SANDBOX)).toEqual(before);
  expect(stage.session()).toMatchObject({ epoch: 1 });
  const now = await stage.instance().merge({ ...asked, dryRun: true });
  const seen = { ...asked, fromCheckpointId: now.from.checkpointId };
  const done = await stage.instance().merge(seen);
  expect(done).toMatchObject({ status: 'APPLIED' });
  // What has begun is asked for again, whatever came since.
  await work('three.txt');
  expect(await stage.instance().merge(seen)).toEqual(done);
});

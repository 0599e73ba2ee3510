/** How far a rollback, an undo and a rehydrate are, as the function answers it while they run. */
import { expect, test } from 'vitest';
import type { WorkDone } from '../../core/checkpoint/model.ts';
import { createProgress } from '../../core/checkpoint/session/progress.ts';
import { createFakeSearches } from '../support/fakes/fake-searches.ts';
import { createWorkingStage, SESSION, type Stage } from '../support/fakes/stage.ts';

/** The next restores take so long, and tell this before their end. What people are answered then. */
const telling = (stage: Stage, ms: number, done: WorkDone) => {
  const ask = createProgress({ store: stage.store, searches: createFakeSearches(), clock: stage.clock });
  const answers: unknown[] = [];
  const { repositories } = stage.world;
  const restore = repositories.restore.bind(repositories);
  repositories.restore = async (sandbox, request, hooks) => {
    stage.passMs(ms);
    hooks?.onProgress?.(done);
    await new Promise(setImmediate);
    answers.push((await ask({ sessionId: SESSION })).progress);
    return restore(sandbox, request, hooks);
  };
  return answers;
};

test('a long rollback and its undo', async () => {
  const stage = await createWorkingStage();
  const { rollback } = stage.instance();
  const written: WorkDone = { doing: 'written', done: 3, of: 9 };
  const answers = telling(stage, 2_000, written);
  const { undoCheckpointId } = await rollback({ messageId: 'm1', requestId: 'r1' });
  await rollback({ checkpointId: undoCheckpointId ?? '', requestId: 'r2' });
  expect(answers).toMatchObject([written, written]);
});

test('a plan of one', async () => {
  const stage = await createWorkingStage();
  const answers = telling(stage, 2_000, { doing: 'unpacked', done: 1, of: 2 });
  await stage.instance().rollback({ messageId: 'm1', requestId: 'r1', dryRun: true });
  expect(answers).toMatchObject([{ doing: 'unpacked', done: 1, of: 2 }]);
});

test('a long rehydrate', async () => {
  const stage = await createWorkingStage();
  const fetched: WorkDone = { doing: 'download', done: 1_024, of: 4_096 };
  const answers = telling(stage, 2_000, fetched);
  await stage.instance().rehydrate({ mode: 'resume', requestId: 'h1' });
  expect(answers).toMatchObject([fetched]);
});

test('a short one writes nothing', async () => {
  const stage = await createWorkingStage();
  const answers = telling(stage, 1_000, { doing: 'written', done: 3, of: 9 });
  await stage.instance().rollback({ messageId: 'm1', requestId: 'r1' });
  await stage.instance().rehydrate({ requestId: 'h1' });
  expect(answers).toEqual([null, null]);
  expect(stage.store.tables.progress.size).toBe(0);
});

test('a table that does not take it is no fault of the rollback', async () => {
  const stage = await createWorkingStage();
  const answers = telling(stage, 2_000, { doing: 'written', done: 3, of: 9 });
  stage.store.putProgress = () => Promise.reject(new Error('no table'));
  const { status } = await stage.instance().rollback({ messageId: 'm1', requestId: 'r1' });
  expect({ status, answers }).toEqual({ status: 'APPLIED', answers: [null] });
});

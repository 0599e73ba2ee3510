/** What other processes write during a rollback becomes one checkpoint, whenever the function dies. Over the model of the ports. */
import { expect, test } from 'vitest';
import { WalkbackError } from '../../core/shared/errors.ts';
import { failing } from '../support/fakes/failing.ts';
import { createCounter, Death, type Fault } from '../support/fakes/faults.ts';
import { LATE_DIRECTORY, writeLate } from '../support/fakes/late.ts';
import { createWorkingStage, SANDBOX, type Stage } from '../support/fakes/stage.ts';

const LATE = { path: 'api', file: 'log', text: 'late' };

const lateCheckpoints = (stage: Stage) =>
  stage.checkpoints().filter(({ reason }) => reason === 'late-writes');

const rolledBack = (stage: Stage, fault?: Fault) =>
  stage.instance(createCounter(fault)).rollback({ messageId: 'm1', requestId: 'r1' });

test('the answer names a checkpoint of them on what was there before, and it can be reached', async () => {
  const stage = await createWorkingStage();
  const before = stage.world.filesOf(SANDBOX);
  const late = writeLate(stage, LATE);
  const answer = await rolledBack(stage);
  expect(answer.lateWrites?.files).toEqual(['api/log']);
  expect(answer.warnings.join()).toContain(
    `stored as checkpoint ${answer.lateWrites?.checkpointId}: api/log`,
  );
  expect(late.isKept()).toBe(false);
  const [stored] = lateCheckpoints(stage);
  expect(stored).toMatchObject({ checkpointId: answer.lateWrites?.checkpointId, complete: true });
  expect(stage.session().headSeq).not.toBe(stored?.seq);
  await stage.instance().rollback({ checkpointId: stored?.checkpointId ?? '', requestId: 'r2' });
  expect(stage.world.filesOf(SANDBOX)).toEqual({ ...before, api: { ...before['api'], log: 'late' } });
});

test('of very many files the first are named, and the others counted, also when it is asked again', async () => {
  const stage = await createWorkingStage();
  const others = Array.from({ length: 250 }, (_, index) => `api/other-${index}`);
  writeLate(stage, { ...LATE, others });
  const { lateWrites, warnings } = await rolledBack(stage);
  expect(lateWrites?.files).toEqual(['api/log', ...others.slice(0, 199)]);
  expect(lateWrites?.filesNotListed).toBe(51);
  expect(warnings.join()).toContain('api/other-8 and 241 more');
  expect((await rolledBack(stage)).lateWrites).toEqual(lateWrites);
});

test('whenever the function dies or a port fails, the same request names the one checkpoint', async () => {
  let ran = 0;
  for (const kind of ['death', 'error'] as const) {
    for (const when of ['before', 'after'] as const) {
      for (let at = 1; ; at++) {
        const stage = await createWorkingStage();
        const late = writeLate(stage, LATE);
        const counter = createCounter({ at, when, kind });
        const first = await stage
          .instance(counter)
          .rollback({ messageId: 'm1', requestId: 'r1' })
          .catch((error: unknown) => {
            if (error instanceof Death || (error instanceof WalkbackError && error.retryable))
              return undefined;
            throw error;
          });
        if (!counter.fired) break;
        ran += 1;
        const where = `${kind} ${when} ${counter.calls[at - 1]}`;
        const answer = await rolledBack(stage);
        if (first !== undefined) expect(answer, where).toEqual(first);
        const stored = lateCheckpoints(stage);
        if (answer.lateWrites === undefined) {
          // It could not be stored, and the answer says where it is.
          expect([kind, stored.length, late.isKept()], where).toEqual(['error', expect.any(Number), true]);
          expect(answer.warnings.join(), where).toContain(LATE_DIRECTORY);
        } else {
          expect(
            stored.map(({ checkpointId }) => checkpointId),
            where,
          ).toEqual([answer.lateWrites.checkpointId]);
          expect(answer.lateWrites.files, where).toEqual(['api/log']);
        }
      }
    }
  }
  expect(ran).toBeGreaterThan(60);
});

test('a rollback that was put back names it too', async () => {
  const stage = await createWorkingStage();
  writeLate(stage, LATE);
  // The restore that writes late is the first one; its report is replaced.
  const restore = stage.world.repositories.restore.bind(stage.world.repositories);
  stage.world.repositories.restore = async (...args) => ({
    ...(await restore(...args)),
    outcome: 'reverted',
    problems: [{ path: 'api', kind: 'failed', message: 'no space left' }],
  });
  const error = await failing(rolledBack(stage), 'RestoreFailed');
  expect(error.message).toContain(`stored as checkpoint ${lateCheckpoints(stage)[0]?.checkpointId}: api/log`);
});

test('what could not be stored is stored by the next rollback', async () => {
  const stage = await createWorkingStage();
  writeLate(stage, LATE);
  const capture = stage.world.repositories.capture.bind(stage.world.repositories);
  stage.world.repositories.capture = async (sandbox, request, ...rest) => {
    if (request.late !== true) return capture(sandbox, request, ...rest);
    throw new WalkbackError('SandboxUnavailable', 'out of space', { retryable: true });
  };
  const answer = await rolledBack(stage);
  expect(answer.lateWrites).toBeUndefined();
  expect(answer.warnings.join()).toContain(`kept in ${LATE_DIRECTORY}`);
  stage.world.repositories.capture = capture;
  const next = await stage.instance().rollback({ messageId: 'm2', requestId: 'r2' });
  expect(next.lateWrites?.files).toEqual(['api/log']);
});

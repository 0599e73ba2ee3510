/** Helpers of rollback tests: read a stage's state, and make a capture or a restore fail. */
import type { RestoreReport } from '../../../core/checkpoint/ports/restore.ts';
import { SESSION, type Stage } from './stage.ts';

export const journalOf = (stage: Stage, requestId: string) =>
  stage.store.tables.rollbacks.get(`${SESSION}\n${requestId}`);
export const checkpointIdOf = (stage: Stage, seq: number): string =>
  stage.checkpoints()[seq - 1]?.checkpointId ?? '';

/** Makes the next restore answer this instead of working. */
export const nextRestore = (stage: Stage, answer: Partial<RestoreReport>): void => {
  const restore = stage.world.repositories.restore.bind(stage.world.repositories);
  stage.world.repositories.restore = async (...args) => {
    stage.world.repositories.restore = restore;
    const report = await restore(args[0], { ...args[1], dryRun: true });
    return { ...report, ...answer };
  };
};

/** From now on a capture fails to see one repository, and says so. */
export const failCapturesOf = (stage: Stage, path: string): void => {
  stage.world.beforeAnswer = (report) => ({
    ...report,
    repositories: report.repositories.map((one) =>
      one.path === path ? { path, state: 'failed', changed: false } : one,
    ),
    failures: [{ path, reason: 'a disk error' }],
  });
};

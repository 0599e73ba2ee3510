/** What the sandbox of a session holds that no checkpoint holds. Stores nothing. */
import type { Uncaptured } from '../../../contract/answer-fields.ts';
import type { Invocation } from '../../shared/deadline.ts';
import type { Session } from '../model.ts';
import type { Sandboxes } from '../ports/sandbox.ts';
import { type CaptureDeps, createDryCapture } from './capture.ts';

type WorkDeps = Pick<CaptureDeps, 'store' | 'repositories' | 'clock' | 'limits'> & { sandboxes: Sandboxes };

export interface UncapturedWork {
  /** Repositories that changed since the checkpoint that the session stands on. */
  changed: string[];
  /** What a checkpoint would lack. */
  uncaptured: Uncaptured[];
  /** What a checkpoint leaves out on purpose. */
  leftOut: Uncaptured[];
}

/** What a capture lacks, also where a repository failed without a reason. */
export const missedBy = (captured: { failures: Uncaptured[]; complete: boolean }): Uncaptured[] =>
  captured.failures.length > 0 || captured.complete
    ? captured.failures
    : [{ path: '.', reason: 'the capture is not complete' }];

export const createUncapturedWork = (deps: WorkDeps) => {
  const { store, sandboxes } = deps;
  const dryCapture = createDryCapture(deps);
  /** Throws `SandboxNotFound` where the sandbox is gone or paused. `by`: the id of the call that looks. */
  return async (session: Session, by: string, invocation: Invocation): Promise<UncapturedWork> => {
    const [sandbox, head] = await Promise.all([
      sandboxes.open(session.sandboxId, { fresh: true }),
      store.getCheckpoint(session.sessionId, session.headSeq),
    ]);
    const about = { toolExecutionId: `look-${by}`, messageId: null, reason: 'look' };
    const now = await dryCapture({ session, sandbox, head, ...about }, invocation);
    const before = new Map((head?.repositories ?? []).map(({ path, state }) => [path, state]));
    // A repository that could not be captured counts as uncaptured, not as changed.
    const changed = now.repositories.filter(({ path, state, changed: isChanged }) =>
      state === 'captured' ? isChanged : state === 'absent' && before.get(path) === 'captured',
    );
    return {
      changed: changed.map(({ path }) => path),
      uncaptured: missedBy(now),
      leftOut: now.skipped,
    };
  };
};

/** Everything one test needs: fakes that remember, a clock that is moved by hand, and use cases over them. */

import { createEndSession } from '../../../core/checkpoint/lifecycle/end-session.ts';
import { createForkSession } from '../../../core/checkpoint/lifecycle/fork-session.ts';
import { createStartSession } from '../../../core/checkpoint/lifecycle/start-session.ts';
import { createMerge } from '../../../core/checkpoint/merge/merge.ts';
import { createRevert } from '../../../core/checkpoint/merge/revert.ts';
import { createRehydrate } from '../../../core/checkpoint/rehydrate/rehydrate.ts';
import { createRollback } from '../../../core/checkpoint/rollback/rollback.ts';
import { createContext } from '../../../core/checkpoint/session/context.ts';
import { createTakeCheckpoint } from '../../../core/checkpoint/take/take-checkpoint.ts';
import { createTimeline } from '../../../core/checkpoint/timeline/timeline.ts';
import { type VirtualClock, virtualClock } from '../../../kit/testing/virtual-clock.ts';
import { createFakeBucket } from './fake-bucket.ts';
import { sha1 } from './fake-bundle.ts';
import { createFakeStore } from './fake-store.ts';
import { createFakeWorld, type FakeRepository } from './fake-world.ts';
import { type Counter, createCounter } from './faults.ts';

export const SESSION = 'session-1';
export const SANDBOX = 'sandbox-1';
const INVOCATION_MS = 900_000;

export const createStage = (clock: VirtualClock = virtualClock(Date.UTC(2026, 0, 1))) => {
  const store = createFakeStore();
  const bucket = createFakeBucket();
  const world = createFakeWorld(bucket);
  let randoms = 0;
  const log = { info: () => undefined, warn: () => undefined };

  /** The use cases of one function instance; `counter` may kill it. */
  const instance = (counter: Counter = createCounter()) => {
    const deps = {
      store: counter.wrap('store', store),
      bundles: counter.wrap('bundles', bucket),
      sandboxes: counter.wrap('sandboxes', world.sandboxes),
      repositories: counter.wrap('repositories', world.repositories),
      clock,
      log,
      random: () => sha1(String(randoms++)),
    };
    const invocation = () => ({ deadlineMs: clock.nowMs() + INVOCATION_MS });
    const start = createStartSession(deps);
    const checkpoint = createTakeCheckpoint(deps);
    const rollback = createRollback(deps);
    const rehydrate = createRehydrate(deps);
    const context = createContext(deps);
    const fork = createForkSession(deps);
    const merge = createMerge(deps);
    const revert = createRevert(deps);
    const end = createEndSession({ ...deps, forSandbox: async () => deps });
    return {
      deps,
      startSession: (input: Partial<Parameters<typeof start>[0]> = {}) =>
        start({ sessionId: SESSION, sandboxId: SANDBOX, projectsRoot: '/projects', ...input }, invocation()),
      checkpoint: (
        messageId: string,
        toolExecutionId: string,
        more: Partial<Parameters<typeof checkpoint>[0]> = {},
      ) =>
        checkpoint(
          { sessionId: SESSION, messageId, toolExecutionId, reason: 'before-tool', ...more },
          invocation(),
        ),
      rollback: (input: Omit<Parameters<typeof rollback>[0], 'sessionId'> & { sessionId?: string }) =>
        rollback({ sessionId: SESSION, ...input }, invocation()),
      rehydrate: (input: Omit<Parameters<typeof rehydrate>[0], 'sessionId'>) =>
        rehydrate({ sessionId: SESSION, ...input }, invocation()),
      fork: (input: Partial<Parameters<typeof fork>[0]> = {}) =>
        fork({ sessionId: SESSION, requestId: 'f1', ...input }, invocation()),
      merge: (input: Parameters<typeof merge>[0]) => merge(input, invocation()),
      revert: (input: Omit<Parameters<typeof revert>[0], 'sessionId'>) =>
        revert({ sessionId: SESSION, ...input }, invocation()),
      timeline: createTimeline(deps),
      context: () => context({ sessionId: SESSION }, invocation()),
      endSession: (input: Partial<Parameters<typeof end>[0]> = {}) =>
        end({ sessionId: SESSION, ...input }, invocation()),
    };
  };

  const edit = (path: string, files: Record<string, string>, sandboxId = SANDBOX): void => {
    const sandbox = world.running.get(sandboxId);
    const before = sandbox?.repositories.get(path);
    sandbox?.repositories.set(path, { ...before, files: { ...before?.files, ...files } });
  };

  return {
    store,
    bucket,
    world,
    clock,
    instance,
    edit,
    remove: (path: string, sandboxId = SANDBOX) => world.running.get(sandboxId)?.repositories.delete(path),
    passMs: (ms: number) => void clock.advance(ms),
    session: () => {
      const session = store.tables.sessions.get(SESSION);
      if (session === undefined) throw new Error('no session');
      return session;
    },
    checkpoints: () => [...store.tables.checkpoints.values()].toSorted((a, b) => a.seq - b.seq),
  };
};

export type Stage = ReturnType<typeof createStage>;

const REPOSITORIES: Record<string, FakeRepository> = {
  api: { files: { 'a.txt': 'one' }, head: sha1('api') },
  web: { files: { 'w.txt': 'one' }, head: sha1('web') },
  notes: { files: { 'n.txt': 'one' } },
};

/** A sandbox with repositories, and no session yet. */
export const createNewStage = (clock?: VirtualClock): Stage => {
  const stage = createStage(clock);
  stage.world.addSandbox(SANDBOX, REPOSITORIES);
  return stage;
};

/** A session with two messages behind it and uncommitted work in the sandbox. */
export const createWorkingStage = async (clock?: VirtualClock): Promise<Stage> => {
  const stage = createNewStage(clock);
  const { startSession, checkpoint } = stage.instance();
  await startSession();
  stage.edit('api', { 'a.txt': 'two' });
  await checkpoint('m1', 't1');
  stage.edit('web', { 'w.txt': 'two', 'new.txt': 'new' });
  stage.edit('late', { 'l.txt': 'made later' });
  await checkpoint('m2', 't2');
  stage.edit('api', { 'a.txt': 'three' });
  return stage;
};

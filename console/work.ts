/**
 * Work that takes longer than a person likes to wait. The request is answered at once with a page that
 * reloads itself and shows the result when it is there: without script, and without an open connection.
 * Finished work is kept for a while, so a reload does nothing twice.
 */
import { sha256Hex } from '../core/shared/ids.ts';
import type { Elsewhere } from './context.ts';
import type { Page } from './parts/page.ts';

type Result = Page | Elsewhere;

export type Outcome =
  | { isDone: true; result: Result }
  | { isDone: false; id: string; since: Date; name: string };

interface Task {
  owner: string;
  name: string;
  since: Date;
  ended: Promise<Result>;
  endedAt?: number;
  /** Untold: it failed when nobody waited for it any more. The next look tells it. */
  failure?: 'untold' | 'told';
}

export interface Work {
  /**
   * Begins the work, or joins the same work of the same person. Answers after `patienceMs` at the latest.
   * Work that ended more than `keptMs` ago is begun anew, and so is work whose failure was told. `name`: for work that begins now; a request that
   * joins gets the name of the work under way.
   */
  begin(
    owner: string,
    what: readonly string[],
    task: () => Promise<Result>,
    keptMs?: number,
    name?: string,
  ): Promise<Outcome>;
  /** Begins it without waiting, or joins it unless it has failed. Answers the id for `look`. */
  start(owner: string, what: readonly string[], task: () => Promise<Result>): string;
  /** Undefined: this person has no work with this id. */
  look(owner: string, id: string): Promise<Outcome | undefined>;
  /** The result was shown, and the next request begins anew. */
  forget(owner: string, what: readonly string[]): void;
}

const KEPT_MS = 10 * 60_000;
const MOST = 200;

export const createWork = ({ patienceMs, now }: { patienceMs: number; now: () => Date }): Work => {
  const tasks = new Map<string, Task>();

  const tidy = (): void => {
    const oldest = now().getTime() - KEPT_MS;
    for (const [id, { endedAt }] of tasks) {
      if (endedAt !== undefined && (endedAt < oldest || tasks.size > MOST)) tasks.delete(id);
    }
  };

  const waited = async (id: string, task: Task): Promise<Outcome> => {
    const { ended, since, name } = task;
    const timer = Promise.withResolvers<undefined>();
    const handle = setTimeout(() => timer.resolve(undefined), patienceMs);
    try {
      const result = await Promise.race([ended, timer.promise]);
      return result === undefined ? { isDone: false, id, since, name } : { isDone: true, result };
    } catch (error) {
      task.failure = 'told';
      throw error;
    } finally {
      clearTimeout(handle);
    }
  };

  const idOf = (owner: string, what: readonly string[]): string =>
    sha256Hex(JSON.stringify([owner, ...what]));

  const joined = (
    owner: string,
    what: readonly string[],
    run: () => Promise<Result>,
    { keptMs, name = '', again }: { keptMs: number; name?: string; again: readonly Task['failure'][] },
  ): [string, Task] => {
    tidy();
    const id = idOf(owner, what);
    const task = tasks.get(id);
    const isOld = (task?.endedAt ?? Infinity) < now().getTime() - keptMs;
    if (task !== undefined && !isOld && !again.includes(task.failure)) return [id, task];
    const begun: Task = { owner, name, since: now(), ended: run() };
    const end = (): void => {
      begun.endedAt = now().getTime();
    };
    begun.ended.then(end, () => {
      begun.failure ??= 'untold';
      end();
    });
    tasks.set(id, begun);
    return [id, begun];
  };

  return {
    begin: (owner, what, run, keptMs = KEPT_MS, name = '') =>
      waited(...joined(owner, what, run, { keptMs, name, again: ['told'] })),
    // Whoever sends a form again wants it tried again.
    start: (owner, what, run) => joined(owner, what, run, { keptMs: KEPT_MS, again: ['told', 'untold'] })[0],
    look: async (owner, id) => {
      const task = tasks.get(id);
      return task === undefined || task.owner !== owner ? undefined : waited(id, task);
    },
    forget: (owner, what) => {
      tasks.delete(idOf(owner, what));
    },
  };
};

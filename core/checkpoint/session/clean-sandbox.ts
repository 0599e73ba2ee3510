/**
 * Removes from a session's sandbox what is no longer needed when the session is over: its shadows and lists,
 * those of other sessions that have ended, and folders of calls that ended long ago.
 *
 * 1. What a session needs that has not ended stays, and so does what this table knows nothing of.
 * 2. What may hold files of the user's own stays, and is named.
 * 3. A session ends whether or not this succeeds. The same call again removes what is left.
 */
import type { Cleaned } from '../../../contract/checkpoint-answers.ts';
import { id as idOf } from '../../../contract/fields.ts';
import { isWalkbackError } from '../../shared/errors.ts';
import type { Log } from '../../shared/surroundings.ts';
import { DEFAULTS } from '../defaults.ts';
import type { Session } from '../model.ts';
import type { Leftover, Repositories } from '../ports/repositories.ts';
import type { Sandboxes } from '../ports/sandbox.ts';
import type { SessionStore } from '../ports/stores.ts';

export interface CleanDeps {
  store: SessionStore;
  sandboxes: Pick<Sandboxes, 'open'>;
  repositories: Pick<Repositories, 'leftovers'>;
  log: Log;
}

export const CLEAN_TIMEOUT_MS = 90_000;
/** Names of sessions come from the sandbox (C10). */
const MOST_SESSIONS = 100;
const MOST_NAMED = 100;

export type NamedLeftovers = Cleaned['removed'];

/** What has this fate, and how much it is. */
export const named = (found: readonly Leftover[], fate: Leftover['fate']): NamedLeftovers => {
  const those = found.filter((one) => one.fate === fate);
  return {
    entries: those.slice(0, MOST_NAMED).map(({ path, files, bytes }) => ({ path, files, bytes })),
    files: those.reduce((sum, { files }) => sum + files, 0),
    bytes: those.reduce((sum, { bytes }) => sum + bytes, 0),
  };
};

export const createCleanSandbox = ({ store, sandboxes, repositories, log }: CleanDeps) => {
  const isOver = async (sessionId: string): Promise<boolean> =>
    (await store.getSession(sessionId))?.status === 'ended';

  /** `session` counts as over. Undefined where the sandbox is gone or paused, or does not answer. */
  return async (session: Session, { dryRun }: { dryRun: boolean }): Promise<Cleaned | undefined> => {
    const { sessionId, sandboxId, projectsRoot } = session;
    try {
      const sandbox = await sandboxes.open(sandboxId, { fresh: true });
      const about = { projectsRoot, maxDepth: DEFAULTS.maxDepth, timeoutMs: CLEAN_TIMEOUT_MS };
      const look = (ended: string[], remove: boolean) =>
        repositories.leftovers(sandbox, { ...about, ended, remove });
      const others = [...new Set((await look([sessionId], false)).flatMap((one) => one.sessionId ?? []))]
        .filter((id) => id !== sessionId && idOf.safeParse(id).success)
        .slice(0, MOST_SESSIONS);
      const over = await Promise.all(others.map(isOver));
      const found = await look([sessionId, ...others.filter((_, i) => over[i] === true)], !dryRun);
      return { removed: named(found, 'remove'), kept: named(found, 'keep') };
    } catch (error) {
      if (!isWalkbackError(error)) throw error;
      log.warn('the sandbox of a session that is over was not cleaned', { sessionId, reason: error.message });
      return undefined;
    }
  };
};

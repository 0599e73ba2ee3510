/**
 * A merge brings what the last checkpoint of its source holds. Whoever plans or makes one is told of
 * work in the source's sandbox that is in no checkpoint, and so does not come.
 */
import type { Invocation } from '../../shared/deadline.ts';
import { isWalkbackError } from '../../shared/errors.ts';
import type { RollbackDeps } from '../attempt/rollback-journal.ts';
import { createUncapturedWork } from '../capture/uncaptured-work.ts';
import { requireSession } from '../session/session-rules.ts';

const MAX_NAMED = 10;

export const createUncapturedSource = (deps: RollbackDeps) => {
  const uncapturedWorkOf = createUncapturedWork(deps);
  /** The warning, or none. Where the sandbox is gone, nothing is left that could come. */
  return async (from: string, requestId: string, invocation: Invocation): Promise<string[]> => {
    try {
      const { changed, uncaptured } = await uncapturedWorkOf(
        await requireSession(deps.store, from),
        requestId,
        invocation,
      );
      const where = [...new Set([...changed, ...uncaptured.map(({ path }) => path)])];
      if (where.length === 0) return [];
      const more = where.length > MAX_NAMED ? ` and ${where.length - MAX_NAMED} more` : '';
      return [
        `session "${from}" has work that no checkpoint holds, so it does not come: ${where.slice(0, MAX_NAMED).join(', ')}${more}; take a checkpoint of it first (walkback checkpoint --session ${from} --message MESSAGE)`,
      ];
    } catch (error) {
      if (!isWalkbackError(error)) throw error;
      if (error.name === 'SandboxNotFound') return [];
      deps.log.warn('the source of a merge was not looked at', { from, reason: error.message });
      return [`whether session "${from}" has work that no checkpoint holds is not known: ${error.message}`];
    }
  };
};

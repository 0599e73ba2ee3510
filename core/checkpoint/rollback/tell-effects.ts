/** Adds to a rollback's answer the effects of sagas that it leaves standing (L7). It only reads. */

import type { RollbackAnswer } from '../../../contract/rollback-answers.ts';
import type { Invocation } from '../../shared/deadline.ts';
import { isWalkbackError } from '../../shared/errors.ts';
import { plural } from '../../shared/plural.ts';
import type { SessionEffects } from '../ports/effects.ts';
import type { SessionStore } from '../ports/stores.ts';
import { isAfterTarget } from '../timeline/after-target.ts';
import { findTarget } from '../timeline/targets.ts';
import type { RollbackRequest } from './rollback-preview.ts';

const MAX_EFFECTS = 100;

export const standingWarning = (count: number): string =>
  `${plural(count, 'effect of a saga', 'effects of sagas')} after the target ${count === 1 ? 'stands' : 'stand'}: a rollback takes back files only`;

type Rollback = (input: RollbackRequest, invocation: Invocation) => Promise<RollbackAnswer>;

/**
 * The effects are those that stand now, even in the answer to a request that was done before. A rollback
 * never fails because of them: when they cannot be read, a warning says so.
 */
export const tellingEffects =
  (rollback: Rollback, { store, effects }: { store: SessionStore; effects: SessionEffects }): Rollback =>
  async (input, invocation) => {
    const answer = await rollback(input, invocation);
    const { sessionId, sandboxId, paths } = input;
    // A review copy is not the session itself, and its work had no effects elsewhere.
    if (sandboxId !== undefined) return answer;
    // A rollback of some paths does not move the session back, so no work is left behind.
    if (paths !== undefined) return answer;
    try {
      const tree = await store.listTree(sessionId);
      const target =
        tree.find(({ checkpointId }) => checkpointId === answer.checkpointId) ??
        (await findTarget(store, sessionId, { checkpointId: answer.checkpointId }));
      const standing = await effects(sessionId, isAfterTarget(tree, target));
      if (standing.length === 0) return answer;
      return {
        ...answer,
        effects: standing.slice(0, MAX_EFFECTS),
        warnings: [...answer.warnings, standingWarning(standing.length)],
      };
    } catch (error) {
      if (!isWalkbackError(error)) throw error;
      const warning = `which effects of sagas stand could not be read: ${error.name}: ${error.message}`;
      return { ...answer, warnings: [...answer.warnings, warning] };
    }
  };

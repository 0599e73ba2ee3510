/**
 * Decides about an effect whose compensator was refused: retry soon, retry later while others go on, or
 * leave it to a person (S7).
 */
import type { Fact } from '../model/ledger-entry.ts';
import type { PinnedToolStep } from '../model/plan.ts';
import type { Operation, SagaState } from '../model/state.ts';
import { undoAgain } from './attempts.ts';
import { type Attempt, stepFact } from './facts.ts';
import type { Outcome, Surroundings } from './saga-events.ts';

/** Attempts before the compensator of this operation was put aside the last time. */
export const attemptsBefore = (state: SagaState, { effect }: Operation): number =>
  state.effects[effect]?.undo?.attempts ?? 0;

export const undoFailureFacts = (
  state: SagaState,
  operation: Operation,
  step: PinnedToolStep,
  attempt: Attempt,
  outcome: Outcome & { outcome: 'rejected' },
  { nowMs }: Surroundings,
): Fact[] => {
  const { error, reached, retryAfterSeconds } = outcome;
  const place = stepFact(step, attempt.epoch);
  const failed: Fact = { direction: 'undo', status: 'failed', ...place, error };
  // A permanent refusal counts only when the tool itself gave it. A deployment in progress or a gateway may
  // have answered instead.
  if (!outcome.retryable && reached !== false) return [failed];
  const before = attemptsBefore(state, operation);
  const next = undoAgain(step, operation, attempt, {
    ...(reached === false ? { reached } : {}),
    ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
    nowMs,
    fromMs: nowMs,
    safeMs: nowMs,
    before,
  });
  switch (next.again) {
    case 'never':
      return [failed];
    case 'soon':
      return next.atMs <= nowMs
        ? []
        : [
            {
              direction: 'saga',
              status: 'paused',
              untilMs: next.atMs,
              reason: 'before compensating again',
            },
          ];
    case 'later': {
      const { attempts, unreached, sinceMs, atMs: untilMs } = next;
      return [
        { direction: 'undo', status: 'delayed', ...place, error, attempts, unreached, sinceMs, untilMs },
      ];
    }
  }
};

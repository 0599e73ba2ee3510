/** Answers how far a long capture of a session is, for people who wait. The session itself may not be there yet. */
import type { ProgressAnswer } from '../../../contract/checkpoint-answers.ts';
import type { SessionInput } from '../../../contract/checkpoint-inputs.ts';
import type { Clock } from '../../shared/surroundings.ts';
import type { SessionStore } from '../ports/stores.ts';

/** What was told earlier is of a capture that ended, or was killed. */
const FRESH_MS = 30_000;

export const createProgress =
  ({ store, clock }: { store: Pick<SessionStore, 'getProgress'>; clock: Clock }) =>
  async ({ sessionId }: SessionInput): Promise<ProgressAnswer> => {
    const told = await store.getProgress(sessionId);
    if (told === undefined || clock.now().getTime() - Date.parse(told.at) > FRESH_MS)
      return { progress: null };
    const { doing, done, of, startedAt, at } = told;
    return { progress: { doing, done, ...(of !== undefined && { of }), startedAt, at } };
  };

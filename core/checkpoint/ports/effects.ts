/** What checkpoints need to know about sagas, so that a rollback can name the effects that it leaves standing. */
import type { StandingEffect } from '../../../contract/rollback-answers.ts';

/** A saga of a session, with only what places it in the conversation. */
export interface PlacedSaga {
  messageId: string | null;
  createdAt: string;
}

/**
 * Answers the standing effects of those sagas of a session that `isMeant` accepts, in the order in which the
 * sagas started.
 */
export type SessionEffects = (
  sessionId: string,
  isMeant: (saga: PlacedSaga) => boolean,
) => Promise<StandingEffect[]>;

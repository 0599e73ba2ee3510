/** What checkpoints need to know of sagas, so that a rollback can name the effects that it leaves alone. */
import type { StandingEffect } from '../../../contract/rollback-answers.ts';

/** A saga of a session, as far as its place in the conversation goes. */
export interface PlacedSaga {
  messageId: string | null;
  createdAt: string;
}

/** Effects that stand, of those sagas of a session that `isMeant` takes; sagas in the order of their start. */
export type SessionEffects = (
  sessionId: string,
  isMeant: (saga: PlacedSaga) => boolean,
) => Promise<StandingEffect[]>;

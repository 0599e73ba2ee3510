/**
 * Work of a session's agent belongs to an epoch of that session (C9). The caller names the epoch. It is
 * checked at once, and again in the transaction that writes the work. So after a rollback or a rewind,
 * nothing of the old epoch begins.
 */
import { WalkbackError } from '../../shared/errors.ts';
import type { CheckEpoch, SessionFence } from '../ports.ts';

/** Undefined when the caller names no epoch. */
export const fenceOf = ({
  sessionId,
  epoch,
}: {
  sessionId?: string | undefined;
  epoch?: number | undefined;
}): SessionFence | undefined => {
  if (epoch === undefined) return undefined;
  if (sessionId !== undefined) return { sessionId, epoch };
  throw new WalkbackError('InvalidInput', 'epoch: needs the sessionId whose epoch it is.');
};

/** Throws `StaleEpoch`, `SessionNotFound` and `SessionEnded`. */
export const requireFence = async (
  check: CheckEpoch | undefined,
  fence: SessionFence | undefined,
): Promise<void> => {
  if (fence === undefined) return;
  if (check === undefined) {
    throw new WalkbackError('ConfigurationError', 'epoch: this function cannot look at sessions.');
  }
  await check(fence);
};

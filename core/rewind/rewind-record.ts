/** Decides when two requests for a rewind of a session are the same. */
import type { Asked } from '../../contract/identity.ts';
import type { SessionRewind } from '../../contract/rewind.ts';
import { conflictingRequest } from '../checkpoint/session/session-rules.ts';
import type { RewindRecord } from '../saga/model/session-rewind.ts';
import { hashJson } from '../shared/canonical-json.ts';

/** Which checkpoint of a message it goes to is no part of its meaning: that is fixed when it begins. */
export const rewindHash = ({
  sessionId,
  to,
  scope = 'all',
  guidance,
  acceptResidue = false,
  reason,
}: Asked<SessionRewind>) =>
  hashJson({
    sessionId,
    to: 'messageId' in to ? { messageId: to.messageId } : to,
    scope,
    guidance: guidance ?? null,
    acceptResidue,
    reason: reason ?? null,
  });

export const requireSameRequest = (record: RewindRecord, request: Asked<SessionRewind>): void => {
  if (record.requestHash !== rewindHash(request)) throw conflictingRequest(request.requestId);
};

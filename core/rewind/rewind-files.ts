/** The files of a session's rewind: an ordinary rollback under a request id of its own. */

import type { Actor } from '../../contract/identity.ts';
import type { RollbackAnswer } from '../../contract/rollback-answers.ts';
import type { RollbackRequest } from '../checkpoint/rollback/rollback-preview.ts';
import type { RewindRecord } from '../saga/model/session-rewind.ts';
import type { Invocation } from '../shared/deadline.ts';
import { sha256Hex } from '../shared/ids.ts';
import type { SessionRewindDependencies } from './ports.ts';

type Named = Pick<RewindRecord, 'sessionId' | 'requestId' | 'checkpointId'> & { by: Actor };

const rollbackId = (requestId: string, attempt: number): string =>
  `rewind-${sha256Hex(requestId).slice(0, 40)}-${attempt}`;

/** A rollback that failed answers its error for ever, so a repeated rewind uses a new request id. */
const requestOf = async ({ sessions }: SessionRewindDependencies, named: Named): Promise<RollbackRequest> => {
  const { sessionId, checkpointId, by } = named;
  for (let attempt = 1; ; attempt += 1) {
    const requestId = rollbackId(named.requestId, attempt);
    const journal = await sessions.getRollback(sessionId, requestId);
    if (journal?.phase !== 'failed') return { sessionId, checkpointId, requestId, by };
  }
};

export const planFiles = async (
  dependencies: SessionRewindDependencies,
  named: Named,
  invocation: Invocation,
): Promise<RollbackAnswer> =>
  dependencies.rollback({ ...(await requestOf(dependencies, named)), dryRun: true }, invocation);

/** A repeated call finishes or answers the same rollback. */
export const bringFiles = async (
  dependencies: SessionRewindDependencies,
  named: Named,
  invocation: Invocation,
): Promise<RollbackAnswer> => dependencies.rollback(await requestOf(dependencies, named), invocation);

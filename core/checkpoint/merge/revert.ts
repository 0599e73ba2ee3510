/**
 * Takes back what one message, some checkpoints or the whole session changed (if asked, in some paths only),
 * and keeps later work (W5). It is a reverse three-way merge, applied as a rollback.
 */

import type { RevertInput } from '../../../contract/checkpoint-inputs.ts';
import type { MaybeAsked } from '../../../contract/identity.ts';
import type { RollbackAnswer } from '../../../contract/rollback-answers.ts';
import type { Invocation } from '../../shared/deadline.ts';
import { WalkbackError } from '../../shared/errors.ts';
import type { RollbackDeps } from '../attempt/rollback-journal.ts';
import type { Session } from '../model.ts';
import type { SessionStore } from '../ports/stores.ts';
import { createRestoreEngine } from '../rollback/rollback.ts';
import { requestHash } from '../session/request-hash.ts';
import { findTarget } from '../timeline/targets.ts';
import { workSince } from '../timeline/whose-work.ts';
import { type Change, changesOfCheckpoints, changesOfMessage, changesOfSession } from './changes.ts';

type RevertRequest = MaybeAsked<RevertInput>;

const leftBehind = (what: string): WalkbackError =>
  new WalkbackError(
    'WorkLeftBehind',
    `${what} is not on the way to where the session stands: a rollback left it behind, or it was work in a copy. What it changed is not in the files, so nothing was taken back.`,
  );

const changesFor = async (
  store: SessionStore,
  session: Session,
  { sessionId, messageId, checkpointIds }: RevertRequest,
): Promise<Change[]> => {
  const { headSeq } = session;
  const tree = await store.listTree(sessionId);
  if (checkpointIds !== undefined) {
    const { changes, unknown } = changesOfCheckpoints(tree, headSeq, checkpointIds);
    const first = unknown[0];
    if (first === undefined) return changes;
    await findTarget(store, sessionId, { checkpointId: first });
    throw leftBehind(`Checkpoint ${first}, or the one before it,`);
  }
  if (messageId === undefined) return changesOfSession(tree, headSeq);
  const since = workSince(await store.getCheckpoint(sessionId, headSeq), session);
  const sinceHead = since.unowned ? null : since.messageId;
  // The message of a turn that was cut may have no checkpoint yet.
  if (sinceHead !== messageId) await findTarget(store, sessionId, { messageId });
  const changes = changesOfMessage(tree, headSeq, messageId, sinceHead);
  if (changes === undefined) {
    throw new WalkbackError(
      'CheckpointNotFound',
      `The checkpoint before message "${messageId}" is gone, because its retention is over. So it is not known what the message changed.`,
    );
  }
  if (changes.length === 0) throw leftBehind(`Message "${messageId}"`);
  return changes;
};

export const createRevert = (deps: RollbackDeps) => {
  const move = createRestoreEngine(deps);
  return (input: RevertRequest, invocation: Invocation): Promise<RollbackAnswer> => {
    const { sessionId, requestId, epoch, messageId, checkpointIds, paths, dryRun } = input;
    return move(
      {
        sessionId,
        requestId,
        epoch,
        dryRun,
        by: input.by,
        hash: requestHash({ kind: 'revert', messageId, checkpointIds, paths }),
        choose: async ({ session }) => ({
          composition: {
            kind: 'revert',
            changes: await changesFor(deps.store, session, input),
            ...(paths !== undefined && { paths }),
          },
        }),
      },
      invocation,
    );
  };
};

/**
 * Takes a checkpoint of all repositories of a session. Keeps C1 (one transaction after everything is
 * durable), C7 (nothing in the sandbox is relied upon), C9 (an older epoch is refused) and idempotency by
 * `toolExecutionId`.
 */
import type { CheckpointAnswer } from '../../../contract/checkpoint-answers.ts';
import type { CheckpointInput } from '../../../contract/checkpoint-inputs.ts';
import type { Invocation } from '../../shared/deadline.ts';
import { isWalkbackError, WalkbackError } from '../../shared/errors.ts';
import { BROKEN_CONNECTION, RACE, retrying, retryingErrors } from '../../shared/retry.ts';
import { type CaptureDeps, createCapture } from '../capture/capture.ts';
import type { Captured } from '../capture/capture-report.ts';
import { createCheckpoint } from '../capture/checkpoint-item.ts';
import { keptMessage, keptTool, saidBefore } from '../content/said.ts';
import type { Checkpoint, Message, Session } from '../model.ts';
import type { Sandboxes } from '../ports/sandbox.ts';
import { checkpointAnswer } from '../session/answers.ts';
import { settledBy, settledIn } from '../session/place.ts';
import { countPresent, linesWith, moveMessage, touch } from '../session/session-item.ts';
import { requireActive, requireEpoch, requireFound, withSandboxAdvice } from '../session/session-rules.ts';
import { createRecovery } from '../settle/abandoned.ts';
import { filedUnder, workSince } from '../timeline/whose-work.ts';

/**
 * The connection broke while a capture ran. Nothing of that capture is visible yet, so it is simply
 * repeated.
 */
const isBroken = (error: unknown): boolean =>
  isWalkbackError(error, 'SandboxUnavailable') && error.details['broken'] === true;

/** Whether both are for the same message. A field that only one of the two has is not compared. */
const isOfMessage = (stored: Checkpoint, { messageId, forMessageId }: CheckpointInput): boolean => {
  if (forMessageId !== undefined && stored.forMessageId !== undefined)
    return stored.forMessageId === forMessageId;
  return messageId === undefined || stored.messageId === messageId;
};

/**
 * A checkpoint from before a rollback does not hold what is there now, so it cannot be the answer for a tool
 * execution of now.
 */
const adopt = (stored: Checkpoint, input: CheckpointInput): CheckpointAnswer => {
  const { epoch, toolExecutionId } = input;
  const isOlder = epoch !== undefined && stored.epoch !== epoch;
  if (!isOlder && isOfMessage(stored, input)) return checkpointAnswer(stored);
  const messageId = stored.forMessageId ?? stored.messageId;
  const which = isOlder ? `from before a rollback, in epoch ${stored.epoch}` : `for message "${messageId}"`;
  throw new WalkbackError(
    'RequestConflict',
    `Tool execution "${toolExecutionId}" already has a checkpoint, ${which}. Use a new toolExecutionId for another execution.`,
    { details: { toolExecutionId, messageId, epoch: stored.epoch } },
  );
};

/** A capture, the checkpoint that it was made on, and the message that it belongs to. */
interface CaptureResult {
  captured: Captured;
  head: Checkpoint | undefined;
  messageId: string;
  unowned: boolean;
  /** Read while it was captured. */
  known: Message | undefined;
}

/** What is kept of the caller's words, for a checkpoint of the message `of`. */
const saidOf = ({ messageId, forMessageId, message, tool }: CheckpointInput, of: string) => {
  const isOfIt = of === (forMessageId ?? messageId ?? of);
  return {
    ...(message && isOfIt && { message: keptMessage(message) }),
    ...(message && !isOfIt && { forMessage: keptMessage(message) }),
    ...(tool && { tool: keptTool(tool) }),
  };
};

/** Whether a capture made on `before` may be committed on `now` without another look. */
const standsStill = (before: Session, now: Session): boolean =>
  before.headSeq === now.headSeq && before.sandboxId === now.sandboxId && before.epoch === now.epoch;

export const createTakeCheckpoint = (deps: CaptureDeps & { sandboxes: Sandboxes }) => {
  const { store, sandboxes, clock, log } = deps;
  const capture = createCapture(deps);
  const settleAbandoned = createRecovery(deps);

  const commit = async (
    session: Session,
    { captured, head, messageId, unowned, known }: CaptureResult,
    input: CheckpointInput,
  ) => {
    const said =
      saidOf(input, messageId).message ?? (known === undefined ? saidBefore(head, messageId) : undefined);
    const order = known?.order ?? session.messageCount + 1;
    const checkpoint = createCheckpoint(
      {
        session,
        captured,
        parentSeq: session.headSeq,
        parent: head,
        messageId,
        messageOrder: order,
        forMessageId: input.forMessageId,
        unowned,
        toolExecutionId: input.toolExecutionId,
        reason: input.reason,
        sandboxId: session.sandboxId,
        detached: false,
        ...settledIn({ session }, settledBy('checkpoint', input.toolExecutionId)),
      },
      clock,
    );
    const { seq, checkpointId: id } = checkpoint;
    const message = moveMessage(session, known, messageId, { seq, id }, said);
    const change = {
      seq,
      headSeq: seq,
      messageCount: Math.max(session.messageCount, order),
      lines: linesWith(session, checkpoint),
      repositoryCount: countPresent(checkpoint.repositories),
    };
    const outcome = await store.commitCheckpoint({
      session: touch(session, change, clock),
      expectedVersion: session.version,
      checkpoint,
      message,
      links: captured.links,
    });
    return outcome.written ? checkpoint : undefined;
  };

  const captureOn = (
    session: Session,
    input: CheckpointInput,
    invocation: Invocation,
  ): Promise<CaptureResult> =>
    withSandboxAdvice(session, async () => {
      const { sessionId, headSeq, sandboxId } = session;
      const { toolExecutionId, reason } = input;
      // Which message it is, the head tells; mostly it is this one.
      const likely = input.messageId ?? input.forMessageId;
      const [sandbox, { checkpoints, message }] = await Promise.all([
        sandboxes.open(sandboxId),
        store.getItems(sessionId, { seqs: [headSeq], ...(likely !== undefined && { messageId: likely }) }),
      ]);
      const head = checkpoints.get(headSeq);
      const { messageId, unowned } = filedUnder(input, workSince(head, session));
      const said = saidOf(input, messageId);
      const about = { session, sandbox, head, toolExecutionId, messageId, reason, said, defersLinks: true };
      const known = messageId === likely ? Promise.resolve(message) : store.findMessage(sessionId, messageId);
      known.catch(() => undefined);
      const captured = await capture(about, invocation);
      return { head, messageId, unowned, captured, known: await known };
    });

  return async (input: CheckpointInput, invocation: Invocation): Promise<CheckpointAnswer> => {
    const { sessionId, toolExecutionId } = input;
    const by = settledBy('checkpoint', toolExecutionId);
    let epoch = input.epoch;
    let held: { session: Session; taken: CaptureResult } | undefined;

    /** Undefined: another call wrote the session meanwhile. */
    const attempt = async (count: number): Promise<CheckpointAnswer | undefined> => {
      const found = await store.getItems(sessionId, { session: true, toolExecutionId });
      const read = requireFound(found.session, sessionId);
      const stored =
        found.toolSeq === undefined ? undefined : await store.getCheckpoint(sessionId, found.toolSeq);
      // A call that names an epoch is refused after a rollback, even when its tool execution is known.
      // Otherwise the tool would run on files that are newer than the checkpoint.
      if (stored !== undefined && input.epoch === undefined) return adopt(stored, input);
      requireActive(read);
      epoch ??= read.epoch;
      requireEpoch(read, epoch);
      if (stored !== undefined) return adopt(stored, input);
      if (read.busy !== undefined) {
        await settleAbandoned({ session: read }, by, invocation);
        return undefined;
      }
      // A call that writes the message after it was read also writes the session. The commit is then refused.
      if (held === undefined || !standsStill(held.session, read)) {
        const take = () => captureOn(read, input, invocation);
        held = { session: read, taken: await retryingErrors(BROKEN_CONNECTION, clock, isBroken, take) };
      } else {
        held.taken.known = await store.findMessage(sessionId, held.taken.messageId);
      }
      const checkpoint = await commit(read, held.taken, input);
      if (checkpoint === undefined) return undefined;
      log.info('checkpoint', { sessionId, checkpointId: checkpoint.checkpointId, attempt: count });
      return checkpointAnswer(checkpoint);
    };

    const answer = await retrying(RACE, clock, attempt);
    if (answer !== undefined) return answer;
    throw new WalkbackError(
      'Throttled',
      `Session "${sessionId}" is being written by others all the time; no checkpoint was taken. Call again.`,
      { retryable: true, details: { sessionId } },
    );
  };
};

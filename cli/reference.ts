/** Resolves what a person typed for a point of the timeline. */
import type { SessionAnswer, TimelineCheckpoint } from '../contract/checkpoint-answers.ts';
import { CHECKPOINT_ID_PATTERN } from '../contract/ids.ts';
import type { Invoke } from '../contract/invoke.ts';
import { CliError } from './failure.ts';

const SHORT_ID = /^cp-(\d{1,7})$/;

/** What a person typed for a point of the timeline, sorted by its form alone. */
type Reference =
  | { kind: 'checkpoint'; checkpointId: string }
  | { kind: 'seq'; seq: number }
  | { kind: 'head' }
  | { kind: 'now' }
  | { kind: 'message'; messageId: string };

const parseReference = (text: string): Reference => {
  if (CHECKPOINT_ID_PATTERN.test(text)) return { kind: 'checkpoint', checkpointId: text };
  const short = SHORT_ID.exec(text);
  if (short?.[1] !== undefined) return { kind: 'seq', seq: Number(short[1]) };
  if (text === 'head') return { kind: 'head' };
  if (text === 'now') return { kind: 'now' };
  return { kind: 'message', messageId: text };
};

interface CheckpointMatch {
  checkpointId: string | undefined;
  /** A checkpoint of a message whose id is the same text. */
  namesake: string | undefined;
}

/** Walks back through the timeline, page by page, to find the wanted checkpoint and a message of that name. */
const findCheckpoint = async (
  invoke: Invoke,
  sessionId: string,
  text: string,
  isIt: (checkpoint: TimelineCheckpoint, session: Pick<SessionAnswer, 'headSeq'>) => boolean,
): Promise<CheckpointMatch> => {
  const found: CheckpointMatch = { checkpointId: undefined, namesake: undefined };
  let cursor: string | undefined;
  do {
    const { checkpoints, session, ...rest } = await invoke('walkback-timeline', {
      sessionId,
      limit: 100,
      ...(cursor === undefined ? {} : { cursor }),
    });
    found.checkpointId ??= checkpoints.find((checkpoint) => isIt(checkpoint, session))?.checkpointId;
    found.namesake ??= checkpoints.find(({ messageId }) => messageId === text)?.checkpointId;
    cursor = rest.cursor;
  } while (cursor !== undefined);
  return found;
};

/**
 * The input that a function takes for the point. Throws `InvalidInput` for `now`, to which nothing can go
 * back.
 */
export const resolveTarget = async (
  invoke: Invoke,
  sessionId: string,
  text: string,
): Promise<{ messageId: string } | { checkpointId: string }> => {
  const reference = parseReference(text);
  if (reference.kind === 'checkpoint') return { checkpointId: reference.checkpointId };
  if (reference.kind === 'message') return { messageId: reference.messageId };
  if (reference.kind === 'now') {
    throw new CliError(
      'InvalidInput',
      '"now" is where the sandbox stands already; name a message or checkpoint.',
    );
  }
  const { checkpointId, namesake } = await findCheckpoint(invoke, sessionId, text, (checkpoint, session) =>
    reference.kind === 'head' ? checkpoint.seq === session.headSeq : checkpoint.seq === reference.seq,
  );
  if (namesake !== undefined) {
    throw new CliError(
      'InvalidInput',
      `"${text}" is the id of a message too (last checkpoint ${namesake}). Name the checkpoint by its whole id${checkpointId === undefined ? '' : `; otherwise ${text} is ${checkpointId}`}.`,
    );
  }
  if (checkpointId !== undefined) return { checkpointId };
  throw new CliError('CheckpointNotFound', `Session ${sessionId} has no checkpoint ${text}.`);
};

/** Like `resolveTarget`, for `walkback diff`, whose function itself knows `head` and `now`. */
export const resolveDiffSide = async (invoke: Invoke, sessionId: string, text: string): Promise<string> => {
  if (parseReference(text).kind !== 'seq') return text;
  const target = await resolveTarget(invoke, sessionId, text);
  return 'checkpointId' in target ? target.checkpointId : target.messageId;
};

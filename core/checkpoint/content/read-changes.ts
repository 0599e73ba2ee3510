/**
 * Answers what one checkpoint, or all checkpoints of a message, changed. It reads only the store, so no
 * sandbox is needed. The answer says what was not kept or is no longer there.
 */
import type { ChangesAnswer, CheckpointChanges } from '../../../contract/change-answers.ts';
import type { ChangesInput } from '../../../contract/checkpoint-inputs.ts';
import { MIB } from '../../../contract/sizes.ts';
import { numbered, requireGiven } from '../../shared/cursor.ts';
import { WalkbackError } from '../../shared/errors.ts';
import { jsonBytes } from '../../shared/json-bytes.ts';
import type { Checkpoint } from '../model.ts';
import type { BundleStore, SessionStore } from '../ports/stores.ts';
import { requireSession } from '../session/session-rules.ts';
import { findTarget } from '../timeline/targets.ts';
import { pathTo } from '../timeline/tree.ts';
import { contentOfCall, describeChanges } from './describe-changes.ts';
import { saidBefore } from './said.ts';

/** An answer may have 6 MB. */
const MAX_ANSWER_BYTES = 4 * MIB;
/** Most checkpoints that are read one by one for a message; each may have 400 KB. */
const MOST_STEPS = 8;

const PLACE = numbered('after-');

type Read = (seq: number) => Promise<Checkpoint | undefined>;

/** Sequence numbers, oldest first. `firstSeq`: that of the message's first checkpoint, even if it is gone. */
interface Wanted {
  seqs: number[];
  firstSeq: number;
}

/**
 * The place that a cursor names. A page ends with a wanted checkpoint that is not the last. Retention may
 * have removed that checkpoint since.
 */
const placeAfter = async (cursor: string | undefined, { seqs, firstSeq }: Wanted, read: Read) => {
  if (cursor === undefined) return 0;
  const place = PLACE.read(cursor, { from: firstSeq, to: (seqs.at(-1) ?? 0) - 1 });
  requireGiven(seqs.includes(place) || (await read(place)) === undefined);
  return place;
};

/** Whether the answer has texts from the checkpoint before that are not in its item. */
const isNeeded = (checkpoint: Checkpoint, parent: Checkpoint): boolean => {
  if (parent.content?.said === undefined) return false;
  const isSaidBefore =
    checkpoint.content?.message === undefined && saidBefore(parent, checkpoint.messageId) !== undefined;
  return isSaidBefore || contentOfCall(checkpoint, parent) !== undefined;
};

export const createReadChanges = (deps: { store: SessionStore; bundles: Pick<BundleStore, 'get'> }) => {
  const { store, bundles } = deps;

  /** Undefined: there is no object, or it is not what was stored. */
  const contentOf = async ({ content }: Checkpoint): Promise<Uint8Array | undefined> => {
    if (content?.object === undefined) return undefined;
    try {
      return await bundles.get(content.object);
    } catch (error) {
      if (error instanceof WalkbackError && !error.retryable) return undefined;
      throw error;
    }
  };

  /**
   * The checkpoints that are asked for. Most messages have a few checkpoints in a row. These are read anyway,
   * each with its parent. Only for a long message is the tree read.
   */
  const wanted = async (read: Read, target: Checkpoint, messageId: string | undefined): Promise<Wanted> => {
    if (messageId === undefined) return { seqs: [target.seq], firstSeq: target.seq };
    const { sessionId } = target;
    const firstSeq = (await store.findMessage(sessionId, messageId))?.firstSeq ?? 0;
    if (target.seq - firstSeq > MOST_STEPS) {
      const tree = await store.listTree(sessionId);
      const bySeq = new Map(tree.map((node) => [node.seq, node]));
      const seqs = pathTo(tree, target.seq).filter((seq) => bySeq.get(seq)?.messageId === messageId);
      return { seqs, firstSeq };
    }
    const found: number[] = [];
    let at: Checkpoint | undefined = target;
    while (at !== undefined && at.seq >= firstSeq) {
      if (at.messageId === messageId) found.push(at.seq);
      at = at.parentSeq === null || at.parentSeq >= at.seq ? undefined : await read(at.parentSeq);
    }
    return { seqs: found.toReversed(), firstSeq };
  };

  return async (input: ChangesInput): Promise<ChangesAnswer> => {
    const { sessionId, messageId, path } = input;
    await requireSession(store, sessionId);
    const target = await findTarget(store, sessionId, input);
    const known = new Map<number, Promise<Checkpoint | undefined>>([[target.seq, Promise.resolve(target)]]);
    const read: Read = (seq) => {
      const reading = known.get(seq) ?? store.getCheckpoint(sessionId, seq);
      if (known.size <= MOST_STEPS) known.set(seq, reading);
      return reading;
    };
    const asked = await wanted(read, target, messageId);
    const after = await placeAfter(input.cursor, asked, read);
    const left = asked.seqs.filter((seq) => seq > after);
    const checkpoints: CheckpointChanges[] = [];
    let room = MAX_ANSWER_BYTES;
    /** The checkpoint before is mostly the one that was just described. */
    let last: { seq: number; content: Promise<Uint8Array | undefined> } | undefined;
    const contentAt = (one: Checkpoint) => {
      if (last?.seq !== one.seq) last = { seq: one.seq, content: contentOf(one) };
      return last.content;
    };
    for (const seq of left) {
      const checkpoint = await read(seq);
      // Retention removed it since.
      if (checkpoint === undefined) continue;
      const { parentSeq } = checkpoint;
      const parent = parentSeq === null ? undefined : await read(parentSeq);
      const parentObject = parent && isNeeded(checkpoint, parent) ? await contentAt(parent) : undefined;
      const described = describeChanges(
        { checkpoint, parent, parentId: parent?.checkpointId ?? null, parentObject },
        await contentAt(checkpoint),
        { path, maxBytes: MAX_ANSWER_BYTES },
      );
      const size = jsonBytes(described);
      if (size > room && checkpoints.length > 0) {
        return { sessionId, checkpoints, cursor: PLACE.write(checkpoints.at(-1)?.seq ?? 0) };
      }
      checkpoints.push(described);
      room -= size;
    }
    return { sessionId, checkpoints };
  };
};

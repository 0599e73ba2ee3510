/**
 * Reads a session's timeline: a page of checkpoints, newest first, and every message with its present
 * status.
 */
import type { TimelineAnswer, TimelineCheckpoint } from '../../../contract/checkpoint-answers.ts';
import type { TimelineInput } from '../../../contract/checkpoint-inputs.ts';
import { createPage, MAX_PAGE_BYTES } from '../../shared/answer-size.ts';
import { numbered } from '../../shared/cursor.ts';
import type { Clock } from '../../shared/surroundings.ts';
import { DEFAULTS } from '../defaults.ts';
import type { SessionStore } from '../ports/stores.ts';
import { briefCheckpoint, sessionAnswer, timelineCheckpoint } from '../session/answers.ts';
import { requireSession } from '../session/session-rules.ts';
import { outlineOf } from './outline.ts';
import { standingInTree, standingOnLine } from './standing.ts';

const PLACE = numbered('before-');

/** Checkpoints are numbered from 1, and no page begins before the first. */
const FIRST_PLACE = 2;

export const createTimeline =
  (deps: { store: SessionStore; clock: Clock }) =>
  async (input: TimelineInput): Promise<TimelineAnswer> => {
    const { store, clock } = deps;
    const { sessionId } = input;
    const limit = input.limit ?? DEFAULTS.timelineLimit;
    const [session, outlines, messages] = await Promise.all([
      requireSession(store, sessionId),
      input.brief === true ? store.listOutlines(sessionId) : undefined,
      store.listMessages(sessionId),
    ]);
    const { headSeq, seq: to } = session;
    const { cursor } = input;
    const beforeSeq = cursor === undefined ? undefined : PLACE.read(cursor, { from: FIRST_PLACE, to });
    const line = standingOnLine(session, messages, clock);
    const [found, standing] = await Promise.all([
      outlines === undefined
        ? store.listCheckpoints(sessionId, { limit, maxBytes: MAX_PAGE_BYTES, beforeSeq })
        : [],
      line ??
        (outlines === undefined
          ? store.listTree(sessionId).then((tree) => standingInTree(tree, session))
          : standingInTree(outlines, session)),
    ]);
    const asked =
      input.brief === true
        ? (
            outlines?.filter(({ seq }) => seq < (beforeSeq ?? Infinity)).toReversed() ?? found.map(outlineOf)
          ).map((one) => briefCheckpoint(one, standing.isOnPath(one.seq)))
        : found.map((one) => timelineCheckpoint(one, standing.isOnPath(one.seq)));
    const page = createPage<TimelineCheckpoint>(limit);
    for (const checkpoint of asked) {
      if (!page.add(checkpoint)) break;
    }
    const last = page.items.at(-1)?.seq;
    const headId =
      standing.idOf(headSeq) ??
      asked.find(({ seq }) => seq === headSeq)?.checkpointId ??
      (line && (await store.getCheckpoint(sessionId, headSeq))?.checkpointId);
    return {
      session: sessionAnswer(session, headId ?? null),
      checkpoints: page.items,
      messages: messages.map(({ messageId, order, lastSeq, role, title }) => ({
        messageId,
        order,
        checkpointId: standing.idOf(lastSeq) ?? null,
        discarded: !standing.isPresent(messageId),
        ...(role !== undefined && { role }),
        ...(title !== undefined && { title }),
      })),
      ...(last !== undefined && standing.hasBefore(last) && { cursor: PLACE.write(last) }),
    };
  };

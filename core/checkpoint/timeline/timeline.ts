/**
 * Reads a session's timeline: a page of checkpoints, newest first, and every message with its present
 * status.
 */
import type { TimelineAnswer, TimelineCheckpoint } from '../../../contract/checkpoint-answers.ts';
import type { TimelineInput } from '../../../contract/checkpoint-inputs.ts';
import { createPage, MAX_PAGE_BYTES } from '../../shared/answer-size.ts';
import { badCursor } from '../../shared/cursor.ts';
import { DEFAULTS } from '../defaults.ts';
import type { SessionStore } from '../ports/stores.ts';
import { briefCheckpoint, sessionAnswer, timelineCheckpoint } from '../session/answers.ts';
import { requireSession } from '../session/session-rules.ts';
import { outlineOf } from './outline.ts';
import { messagesOn, pathTo } from './tree.ts';

const cursorSeq = (cursor: string | undefined): number | undefined => {
  if (cursor === undefined) return undefined;
  const match = /^before-(\d{1,12})$/.exec(cursor);
  if (match?.[1] !== undefined) return Number(match[1]);
  throw badCursor();
};

export const createTimeline =
  (deps: { store: SessionStore }) =>
  async (input: TimelineInput): Promise<TimelineAnswer> => {
    const { store } = deps;
    const { sessionId } = input;
    const limit = input.limit ?? DEFAULTS.timelineLimit;
    const beforeSeq = cursorSeq(input.cursor);
    const brief = input.brief === true;
    const [session, outlines, messages] = await Promise.all([
      requireSession(store, sessionId),
      brief ? store.listOutlines(sessionId) : undefined,
      store.listMessages(sessionId),
    ]);
    const [found, tree] =
      outlines === undefined
        ? await Promise.all([
            store.listCheckpoints(sessionId, { limit, maxBytes: MAX_PAGE_BYTES, beforeSeq }),
            store.listTree(sessionId),
          ])
        : [[], outlines];
    const ids = new Map(tree.map((node) => [node.seq, node.checkpointId]));
    const path = new Set(pathTo(tree, session.headSeq));
    const present = new Set(messagesOn(tree, session.headSeq));
    const onPath = ({ seq }: { seq: number }): boolean => path.has(seq);
    const asked = brief
      ? (
          outlines?.filter(({ seq }) => seq < (beforeSeq ?? Infinity)).toReversed() ?? found.map(outlineOf)
        ).map((one) => briefCheckpoint(one, onPath(one)))
      : found.map((one) => timelineCheckpoint(one, onPath(one)));
    const page = createPage<TimelineCheckpoint>(limit);
    for (const checkpoint of asked) {
      if (!page.add(checkpoint)) break;
    }
    const last = page.items.at(-1)?.seq;
    const hasMore = last !== undefined && tree.some(({ seq }) => seq < last);
    return {
      session: sessionAnswer(session, ids.get(session.headSeq) ?? null),
      checkpoints: page.items,
      messages: messages.map(({ messageId, order, lastSeq, role, title }) => ({
        messageId,
        order,
        checkpointId: ids.get(lastSeq) ?? null,
        discarded: !present.has(messageId),
        ...(role !== undefined && { role }),
        ...(title !== undefined && { title }),
      })),
      ...(hasMore && { cursor: `before-${last}` }),
    };
  };

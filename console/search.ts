/** Finds words in what was read of sessions and sagas. Pure. */
import type { CheckpointChanges } from '../contract/change-answers.ts';
import type { ListedSession, TimelineMessage } from '../contract/checkpoint-answers.ts';
import type { SagaSummary } from '../contract/saga-answers.ts';
import { sagaTitle } from '../present/saga-words.ts';
import { callSubject } from '../present/tool-call-words.ts';

export interface ReadSession {
  session: ListedSession;
  messages: readonly TimelineMessage[];
}

interface FoundMessage {
  sessionId: string;
  messageId: string;
  title: string;
  role: string | undefined;
  discarded: boolean;
}

/** All words have to be there, in any order and case. */
const matcher = (asked: string): ((...texts: readonly (string | undefined | null)[]) => boolean) => {
  const words = asked.toLowerCase().split(/\s+/).filter(Boolean);
  return (...texts) => {
    const text = texts.join('\n').toLowerCase();
    return words.length > 0 && words.every((word) => text.includes(word));
  };
};

/** In the order in which the sessions came, the newest message of each first. */
export const findMessages = (read: readonly ReadSession[], asked: string): FoundMessage[] => {
  const fits = matcher(asked);
  return read.flatMap(({ session: { sessionId }, messages }) =>
    messages
      .filter(({ messageId, title }) => fits(messageId, title))
      .toReversed()
      .map(({ messageId, title = messageId, role, discarded }) => ({
        sessionId,
        messageId,
        title,
        role,
        discarded,
      })),
  );
};

/** By title (amount, reference), id, template, starter and error. */
export const findSagas = (sagas: readonly SagaSummary[], asked: string): SagaSummary[] => {
  const fits = matcher(asked);
  return sagas.filter((one) =>
    fits(
      sagaTitle(one),
      one.sagaId,
      one.definition,
      one.requestedBy,
      one.failure,
      one.subject?.externalRef,
      one.subject?.about?.value,
    ),
  );
};

export interface ReadCall {
  sessionId: string;
  messageId: string;
  title: string;
  change: CheckpointChanges;
}

interface FoundCall {
  sessionId: string;
  messageId: string;
  title: string;
  /** What was run, or the files where that alone fits. */
  words: string;
}

/** By what was run, its input, what was said, and the paths that changed. */
export const findCalls = (read: readonly ReadCall[], asked: string): FoundCall[] => {
  const fits = matcher(asked);
  return read.flatMap(({ sessionId, messageId, title, change }) => {
    const { madeBy, message, repositories } = change;
    const paths = repositories.flatMap(({ path, files }) => files.map((file) => `${path}/${file.path}`));
    const call = madeBy === undefined ? undefined : `${madeBy.name} ${callSubject(madeBy)}`.trim();
    const hits = paths.filter((path) => fits(path)).slice(0, 3);
    return fits(madeBy?.name, madeBy?.input, message?.text, ...paths)
      ? [{ sessionId, messageId, title, words: [call, ...hits].filter(Boolean).join(' · ') || title }]
      : [];
  });
};

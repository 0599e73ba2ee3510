/** Lists sessions, a page at a time and in no order, for people and tools that search for one. */
import type { ListedSession, ListSessionsAnswer } from '../../../contract/checkpoint-answers.ts';
import type { ListSessionsInput } from '../../../contract/checkpoint-inputs.ts';
import type { SessionStore } from '../ports/stores.ts';
import { sessionAnswer } from './answers.ts';

const DEFAULT_LIMIT = 50;

export const createListSessions =
  ({ store }: { store: SessionStore }) =>
  async (input: ListSessionsInput): Promise<ListSessionsAnswer> => {
    const page = await store.listSessions(input.limit ?? DEFAULT_LIMIT, input.cursor);
    const sessions = page.sessions.map((session): ListedSession => {
      const { headCheckpointId: _unread, ...listed } = sessionAnswer(session, null);
      return listed;
    });
    return { sessions, ...(page.cursor === undefined ? {} : { cursor: page.cursor }) };
  };

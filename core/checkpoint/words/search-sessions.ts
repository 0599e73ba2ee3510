/**
 * Searches messages, tool calls and paths: all of one session, or of all sessions the newest words, a bounded number of bytes. It
 * says how far back that went. Words of a session that goes on meanwhile may move to a page that was read already.
 */
import type { SearchSessionsAnswer, SearchSessionsInput } from '../../../contract/search-sessions.ts';
import { badCursor, requireGiven, sealed } from '../../shared/cursor.ts';
import type { Clock } from '../../shared/surroundings.ts';
import type { SessionStore } from '../ports/stores.ts';
import type { FoundBlocks, WordStore } from '../ports/words.ts';
import { requireSession } from '../session/session-rules.ts';
import { findWords } from './find.ts';

const DEFAULT_LIMIT = 50;

export const createSearchSessions = (deps: {
  store: Pick<SessionStore, 'getSession'>;
  words: Pick<WordStore, 'blocksOf' | 'newestBlocks'>;
  clock: Clock;
}) => {
  const { store, words, clock } = deps;

  return async (input: SearchSessionsInput): Promise<SearchSessionsAnswer> => {
    const { sessionId, cursor, limit = DEFAULT_LIMIT } = input;
    const seal = sealed(`words ${input.words}`);
    const read = async (): Promise<FoundBlocks> => {
      if (sessionId !== undefined) {
        // All of a session is one page.
        requireGiven(cursor === undefined);
        await requireSession(store, sessionId);
        return { blocks: await words.blocksOf(sessionId) };
      }
      const before = cursor === undefined ? undefined : seal.read(cursor);
      if (before === undefined || typeof before === 'string') return words.newestBlocks(before);
      throw badCursor();
    };
    const { blocks, readBackTo } = await read();
    const nowSeconds = clock.now().getTime() / 1000;
    const { messages, calls, looked } = findWords(blocks, input.words, nowSeconds);
    return {
      messages: messages.slice(0, limit),
      moreMessages: Math.max(0, messages.length - limit),
      calls: calls.slice(0, limit),
      moreCalls: Math.max(0, calls.length - limit),
      looked,
      ...(readBackTo !== undefined && { lookedBackTo: readBackTo, cursor: seal.write(readBackTo) }),
    };
  };
};

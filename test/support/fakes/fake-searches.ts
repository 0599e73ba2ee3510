/** Searches in memory: the same conditions as the real store, and copies in and out. */
import type { SearchJournal, SearchStore } from '../../../core/checkpoint/ports/searches.ts';

export interface FakeSearches extends SearchStore {
  readonly journals: Map<string, SearchJournal>;
}

const keyOf = (sessionId: string, requestId: string): string => `${sessionId}\n${requestId}`;

export const createFakeSearches = (): FakeSearches => {
  const journals = new Map<string, SearchJournal>();
  const put = (journal: SearchJournal): true => {
    journals.set(keyOf(journal.sessionId, journal.requestId), structuredClone(journal));
    return true;
  };
  return {
    journals,
    getSearch: async (sessionId, requestId) => structuredClone(journals.get(keyOf(sessionId, requestId))),
    createSearch: async (journal) =>
      !journals.has(keyOf(journal.sessionId, journal.requestId)) && put(journal),
    moveSearch: async (journal, expectedAttempt) =>
      journals.get(keyOf(journal.sessionId, journal.requestId))?.attempt === expectedAttempt && put(journal),
  };
};

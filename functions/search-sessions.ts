import { createSearchSessions } from '../core/checkpoint/words/search-sessions.ts';
import { createHandler } from './handler.ts';
import { sessionStore, wordStore } from './session-runtime.ts';

export const handler = createHandler('search-sessions', async (runtime) =>
  createSearchSessions({ clock: runtime.clock, store: sessionStore(runtime), words: wordStore(runtime) }),
);

import { createProgress } from '../core/checkpoint/session/progress.ts';
import { createHandler } from './handler.ts';
import { searchStore, sessionStore } from './session-runtime.ts';

export const handler = createHandler('progress', async (runtime) =>
  createProgress({ store: sessionStore(runtime), searches: searchStore(runtime), clock: runtime.clock }),
);

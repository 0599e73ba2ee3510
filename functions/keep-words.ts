import { createKeepWords } from '../core/checkpoint/words/keep-words.ts';
import { createEventHandler } from './handler.ts';
import { bundleStore, wordStore } from './session-runtime.ts';
import { sessionChanges } from './stream-runtime.ts';

/** Internal: fed by the Sessions table's stream. */
export const handler = createEventHandler('keep-words', async (runtime) =>
  sessionChanges(createKeepWords({ ...runtime, words: wordStore(runtime), bundles: bundleStore(runtime) })),
);

import { createReadChanges } from '../core/checkpoint/content/read-changes.ts';
import { createHandler } from './handler.ts';
import { bundleStore, sessionStore } from './session-runtime.ts';

export const handler = createHandler('changes', async (runtime) =>
  createReadChanges({ store: sessionStore(runtime), bundles: bundleStore(runtime) }),
);

import { createListCopies } from '../core/checkpoint/copies/list-copies.ts';
import { createHandler } from './handler.ts';
import { e2bSandboxes } from './sandbox-runtime.ts';
import { sessionStore } from './session-runtime.ts';

export const handler = createHandler('list-copies', async (runtime) =>
  createListCopies({ ...runtime, store: sessionStore(runtime), sandboxes: await e2bSandboxes(runtime) }),
);

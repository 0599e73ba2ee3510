import { createExpectUnused } from '../core/checkpoint/copies/expect-unused.ts';
import { createEndSession } from '../core/checkpoint/lifecycle/end-session.ts';
import { createHandler } from './handler.ts';
import { checkpointPorts, e2bSandboxes } from './sandbox-runtime.ts';
import { sessionStore } from './session-runtime.ts';

export const handler = createHandler('end-session', async (runtime) => {
  const store = sessionStore(runtime);
  // A session ends also without the key of E2B.
  const sandboxes = () => e2bSandboxes(runtime);
  return createEndSession({
    ...runtime,
    store,
    forSandbox: () => checkpointPorts(runtime),
    expectUnused: createExpectUnused({ store, sandboxes }),
  });
});

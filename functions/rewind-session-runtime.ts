import { createRollback } from '../core/checkpoint/rollback/rollback.ts';
import { createRewindSession } from '../core/rewind/rewind-session.ts';
import type { Runtime } from './runtime.ts';
import { sagaPorts } from './saga-runtime.ts';
import { checkpointPorts } from './sandbox-runtime.ts';
import { sessionStore } from './session-runtime.ts';

export const sessionRewind = (runtime: Runtime) =>
  createRewindSession({
    ...sagaPorts(runtime),
    sessions: sessionStore(runtime),
    // A deployment without a key for sandboxes can rewind sagas too.
    rollback: async (...asked) => createRollback(await checkpointPorts(runtime))(...asked),
  });

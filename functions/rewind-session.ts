import { createRollback } from '../core/checkpoint/rollback/rollback.ts';
import { createRewindSession } from '../core/rewind/rewind-session.ts';
import { createHandler } from './handler.ts';
import { identified } from './identity-runtime.ts';
import { sagaPorts } from './saga-runtime.ts';
import { checkpointPorts } from './sandbox-runtime.ts';

export const handler = createHandler('rewind-session', async (runtime) => {
  const ports = await checkpointPorts(runtime);
  const rewind = createRewindSession({
    ...sagaPorts(runtime),
    sessions: ports.store,
    rollback: createRollback(ports),
  });
  return identified(runtime, 'rewind-session', rewind);
});

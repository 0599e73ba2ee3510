import { toolHandler } from '../kit/handler.ts';
import { workspaceTools } from '../tools/workspace/catalog.ts';
import { createUses } from '../tools/workspace/uses.ts';
import { createEventHandler } from './handler.ts';
import { sagaTombstones } from './saga-runtime.ts';
import { checkpointPorts, workspaces } from './sandbox-runtime.ts';

/** The built-in tools of workspaces. Like any other tool, this function always answers an outcome. */
export const handler = createEventHandler('workspace-tools', async (runtime) => {
  const uses = createUses({ ...(await checkpointPorts(runtime)), workspaces: workspaces(runtime) });
  const serve = toolHandler(workspaceTools(uses), {
    tombstones: sagaTombstones(runtime),
    now: () => runtime.clock.now().getTime(),
  });
  return (event: unknown, { deadlineMs }) =>
    serve(event, { getRemainingTimeInMillis: () => deadlineMs - Date.now() });
});

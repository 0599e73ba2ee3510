/** Tools that are HTTP endpoints: where they may be, and which function calls them. */
import { endpointProblem } from '../../../contract/http-endpoint.ts';
import type { ToolManifest } from '../model.ts';

/** The built-in function, in manifests: only one with an `endpoint` names it. What it is called here, the deployment knows. */
export const HTTP_TOOL_FUNCTION = 'walkback-http-tool';

/** Which endpoint rule a manifest breaks, naming the tool. */
export const endpointViolation = (tool: ToolManifest): string | undefined => {
  const { endpoint, functionName } = tool;
  const named = `tool ${tool.name}@${tool.version}: `;
  if ((endpoint !== undefined) !== (functionName === HTTP_TOOL_FUNCTION)) {
    return `${named}endpoint-function: a tool has an endpoint exactly when its function is ${HTTP_TOOL_FUNCTION}`;
  }
  const problem = endpoint === undefined ? undefined : endpointProblem(endpoint);
  return problem === undefined ? undefined : named + problem;
};

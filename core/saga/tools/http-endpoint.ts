/** Tools that are HTTP endpoints: which endpoints are allowed, and the function that calls them. */
import { endpointProblem } from '../../../contract/http-endpoint.ts';
import type { ToolManifest } from '../model/tool.ts';

/**
 * The name of the built-in function in manifests. Only one with an `endpoint` names it. The deployment
 * knows its real name.
 */
export const HTTP_TOOL_FUNCTION = 'walkback-http-tool';

/** The endpoint rule that a manifest breaks, naming the tool. */
export const endpointViolation = (tool: ToolManifest): string | undefined => {
  const { endpoint, functionName } = tool;
  const named = `tool ${tool.name}@${tool.version}: `;
  if ((endpoint !== undefined) !== (functionName === HTTP_TOOL_FUNCTION)) {
    return `${named}endpoint-function: a tool has an endpoint exactly when its function is ${HTTP_TOOL_FUNCTION}`;
  }
  const problem = endpoint === undefined ? undefined : endpointProblem(endpoint);
  return problem === undefined ? undefined : named + problem;
};

/**
 * Checks whether a tool's function may run in a saga. A call must not outlive the machine's wait for it
 * (S3).
 */
import { WalkbackError } from '../../shared/errors.ts';
import { ENGINE_SLACK_SECONDS } from '../model/timing.ts';
import { DEFAULT_TIMEOUT_SECONDS, type ToolManifest } from '../model/tool.ts';
import type { ServingFunction, ToolFunctions } from '../ports.ts';
import { longestSeconds } from './deadlines.ts';

/**
 * The longer of the two deadlines, of the call and of the compensator. The kit ends a call at its own
 * deadline. `told`: which of the two it is, so that a reader who did not write the number knows where it
 * comes from.
 */
const longestDeadline = (tool: ToolManifest) => {
  const { timeoutSeconds, compensation } = tool;
  const seconds = longestSeconds(tool);
  const isUndo = compensation !== undefined && seconds > timeoutSeconds;
  const whose = isUndo ? `its compensator ${compensation.name}` : 'its call';
  const advice =
    seconds === DEFAULT_TIMEOUT_SECONDS ? ', the default: give it a timeoutSeconds of its own' : '';
  return { seconds, told: `the deadline of ${whose} (${seconds} s${advice})` };
};

const refuse = (tool: ToolManifest, message: string): never => {
  throw new WalkbackError('CatalogRefused', `tool ${tool.name}@${tool.version}: ${message}`);
};

/** Where a function's limit is written: there is one place for each way to run it. */
const limitAdvice = (least: number, limit: number): string =>
  `Give the function a limit of ${least} to ${limit - 1} s: deployed, the timeout of the Lambda function; with walkback up --functions, \`export const timeoutSeconds\` in its module.`;

const findWarning = (tool: ToolManifest, seen: ServingFunction): string | undefined => {
  const deadline = longestDeadline(tool);
  const limit = deadline.seconds + ENGINE_SLACK_SECONDS;
  const limited = `${limit} s, ${deadline.told} and ${ENGINE_SLACK_SECONDS} s`;
  const called = `tool ${tool.name}@${tool.version}: its function ${tool.functionName}`;
  switch (seen.state) {
    case 'missing':
      return `${called} is not there yet; deploy it with a timeout shorter than ${limited}, and store this again to check it.`;
    case 'hidden':
      return `${called} may not be looked at, nor be called by sagas: name it to the stack (addTool, toolFunctions).`;
    case 'there':
      // A tool that only reads cannot act late.
      if (seen.timeoutSeconds >= limit && tool.effect !== 'read') {
        refuse(
          tool,
          `function-timeout: its function ${tool.functionName} may run ${seen.timeoutSeconds} s, which must be less than ${limited}; a call that runs on could act after it was undone. ${limitAdvice(deadline.seconds, limit)}`,
        );
      }
      if (seen.timeoutSeconds >= deadline.seconds) return undefined;
      return `${called} ends after ${seen.timeoutSeconds} s, before ${deadline.told}: a call that takes longer ends in doubt.`;
  }
};

/**
 * Looks once at the function of every tool. Answers warnings to show before a saga starts, and throws
 * `CatalogRefused` when a function may outlive its tool. The built-in function of HTTP tools is not checked:
 * it serves every deadline, and ends each call at the call's own.
 */
export const checkFunctions = async (
  functions: ToolFunctions,
  tools: readonly ToolManifest[],
): Promise<string[]> => {
  const own = tools.filter(({ endpoint }) => endpoint === undefined);
  const names = [...new Set(own.map(({ functionName }) => functionName))];
  const seen = new Map(
    await Promise.all(names.map(async (name) => [name, await functions.look(name)] as const)),
  );
  return own.flatMap((tool) => {
    const warning = findWarning(tool, seen.get(tool.functionName) ?? { state: 'missing' });
    return warning === undefined ? [] : [warning];
  });
};

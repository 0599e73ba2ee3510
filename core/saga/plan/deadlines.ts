/** The deadlines of a step: those that its tool declares, unless the step has its own. Pure. */
import type { StepDeadlines } from '../../../contract/deadlines.ts';
import type { PinnedToolStep } from '../model/plan.ts';
import type { ToolManifest } from '../model/tool.ts';

type Declared = Pick<ToolManifest, 'timeoutSeconds' | 'compensation'>;

/** One function serves both the call and the compensator, so it needs the time of the longer one. */
export const longestSeconds = ({ timeoutSeconds, compensation }: Declared): number =>
  Math.max(timeoutSeconds, compensation?.timeoutSeconds ?? 0);

/**
 * A function is deployed for the deadlines that its tool declares. Tools that only read, and tools called
 * over HTTP, end with the call.
 */
const mayRunLonger = ({ effect, endpoint }: ToolManifest): boolean =>
  effect !== 'read' && endpoint === undefined;

/** The deadlines as they are pinned. */
export const deadlinesOf = (
  own: StepDeadlines,
  tool: ToolManifest,
): Pick<PinnedToolStep, 'timeoutSeconds' | 'compensation' | 'mayRunSeconds'> => {
  const { timeoutSeconds = tool.timeoutSeconds } = own;
  const compensation =
    tool.compensation === undefined ? {} : { compensation: { ...tool.compensation, ...own.compensation } };
  const isOwn = own.timeoutSeconds !== undefined || own.compensation !== undefined;
  const shortest = Math.min(timeoutSeconds, compensation.compensation?.timeoutSeconds ?? timeoutSeconds);
  const mayRunSeconds = longestSeconds(tool);
  return {
    timeoutSeconds,
    ...compensation,
    ...(isOwn && shortest < mayRunSeconds && mayRunLonger(tool) ? { mayRunSeconds } : {}),
  };
};

/** Why the tool cannot have these deadlines. */
export const deadlineViolation = (own: StepDeadlines, tool: ToolManifest): string | undefined =>
  own.compensation === undefined || tool.compensation !== undefined
    ? undefined
    : `tool ${tool.name}@${tool.version} is ${tool.effect} and has no compensator that could have a deadline; leave compensation out`;

/**
 * Only the deadlines that a request names. A request without any then has the same hash as before deadlines
 * existed.
 */
export const ownDeadlines = ({ timeoutSeconds, compensation }: StepDeadlines): StepDeadlines => ({
  ...(timeoutSeconds === undefined ? {} : { timeoutSeconds }),
  ...(compensation === undefined ? {} : { compensation }),
});

/** How long the calls of a step may take, and after which time a lost call can no longer act (S3). Pure. */
import type { PinnedToolStep } from '../model/plan.ts';
import type { Operation } from '../model/state.ts';
import { LATE_COMMIT_MARGIN_MS } from '../model/timing.ts';
import { DEFAULT_TIMEOUT_SECONDS } from '../model/tool.ts';

export const secondsOf = (step: PinnedToolStep, direction: Operation['direction']): number =>
  direction === 'undo' ? (step.compensation?.timeoutSeconds ?? DEFAULT_TIMEOUT_SECONDS) : step.timeoutSeconds;

/** This long after it began, a call can no longer act. A probe never acts. */
export const mayActMs = (step: PinnedToolStep, direction: Operation['direction']): number => {
  const { mayRunSeconds = 0 } = direction === 'probe' ? {} : step;
  return Math.max(secondsOf(step, direction), mayRunSeconds) * 1000 + LATE_COMMIT_MARGIN_MS;
};

/** Before this moment nothing is done about a call whose answer was lost. */
export const safeMsOf = (
  step: PinnedToolStep,
  { deadlineMs, direction }: Pick<Operation, 'deadlineMs' | 'direction'>,
): number => deadlineMs - secondsOf(step, direction) * 1000 + mayActMs(step, direction);

/** The part of the composition root that wires the evaluator of expressions and the link to executions. */
import { executionLink } from '../adapters/aws/sagas/saga-engine.ts';
import { createEvaluator } from '../adapters/jsonata/evaluator.ts';
import { createCheckEpoch, createProjectOf } from '../core/checkpoint/session/check-epoch.ts';
import type { DriveDependencies } from '../core/saga/interactive/drive.ts';
import type { AdvanceDependencies, Evaluate } from '../core/saga/ports.ts';
import { type Runtime, required } from './runtime.ts';
import { sagaPorts, toolInvoker } from './saga-runtime.ts';
import { sessionStore } from './session-runtime.ts';

export const evaluator = (): Evaluate => createEvaluator();

export const advancePorts = (runtime: Runtime): AdvanceDependencies => ({
  ...sagaPorts(runtime),
  evaluate: evaluator(),
  executionLink,
  httpToolFunction: required(runtime.env, 'WALKBACK_HTTP_TOOL_FUNCTION'),
});

/** For functions that drive a saga themselves, for an agent of a session. */
export const drivePorts = (runtime: Runtime): DriveDependencies => {
  const sessions = sessionStore(runtime);
  return {
    ...advancePorts(runtime),
    checkEpoch: createCheckEpoch(sessions),
    projectOf: createProjectOf(sessions),
    tools: toolInvoker(),
  };
};

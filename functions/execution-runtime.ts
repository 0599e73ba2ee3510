/** The part of the composition root that wires the evaluator of expressions and the link to executions. */
import { executionLink } from '../adapters/aws/sagas/saga-engine.ts';
import { createEvaluator } from '../adapters/jsonata/evaluator.ts';
import type { AdvanceDependencies, Evaluate } from '../core/saga/ports.ts';
import { type Runtime, required } from './runtime.ts';
import { sagaPorts } from './saga-runtime.ts';

export const evaluator = (): Evaluate => createEvaluator();

export const advancePorts = (runtime: Runtime): AdvanceDependencies => ({
  ...sagaPorts(runtime),
  evaluate: evaluator(),
  executionLink,
  httpToolFunction: required(runtime.env, 'WALKBACK_HTTP_TOOL_FUNCTION'),
});

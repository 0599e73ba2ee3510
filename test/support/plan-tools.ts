/** A catalog of four tools, one of each effect, and steps that call them: for tests of plans and their arguments. */
import { createEvaluator } from '../../adapters/jsonata/evaluator.ts';
import type { Json, JsonObject } from '../../contract/json.ts';
import type { Plan, SagaDefinition } from '../../core/saga/model/plan.ts';
import type { EffectKind, ToolManifest } from '../../core/saga/model/tool.ts';
import { checkPlan } from '../../core/saga/plan/plan-validation.ts';
import { scriptedTool } from './scripted-saga.ts';

export const evaluate = createEvaluator();

const AMOUNT_AND_NOTE = {
  type: 'object',
  properties: { amount: { type: 'integer', minimum: 1 }, note: { type: 'string' } },
  required: ['amount'],
  additionalProperties: false,
};

/** Its compensator may take longer than itself. */
export const planTool = (
  name: string,
  effect: EffectKind,
  more: Partial<ToolManifest> = {},
): ToolManifest => {
  const { compensation, ...tool } = scriptedTool(name, effect, {
    schemas: { input: AMOUNT_AND_NOTE, output: {}, compensation: {} },
  });
  return {
    ...tool,
    ...(compensation && { compensation: { ...compensation, timeoutSeconds: 30 } }),
    ...more,
  };
};

export const TOOLS = [
  planTool('look', 'read'),
  planTool('pay', 'compensatable'),
  planTool('halve', 'partial'),
  planTool('mail', 'irreversible'),
];
export const lookup = (name: string, version?: string) =>
  TOOLS.find((one) => one.name === name && (version === undefined || one.version === version));

export const step = (id: string, name: string, args: JsonObject = { amount: 1 }, more = {}) => ({
  id,
  tool: name,
  arguments: args,
  ...more,
});

/** What is wrong with a plan, as `step: rule`. */
export const rules = async (plan: Plan, input?: Json, definitions: readonly SagaDefinition[] = []) => {
  const known = input === undefined ? undefined : { input, evaluate };
  const named = (name: string, version?: string) =>
    definitions.findLast((one) => one.name === name && (version === undefined || one.version === version));
  const { violations } = await checkPlan(plan, lookup, known, { definitions: named });
  return violations.map((one) => `${one.step}: ${one.rule}`);
};

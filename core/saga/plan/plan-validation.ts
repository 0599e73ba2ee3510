/** Refuses bad plans before the first effect (S8), and pins good ones, with the plans of all their children. */
import type { Json } from '../../../contract/json.ts';
import { hashJson } from '../../shared/canonical-json.ts';
import { WalkbackError } from '../../shared/errors.ts';
import { jsonBytes } from '../../shared/json-bytes.ts';
import type {
  PinnedParts,
  PinnedPlan,
  PinnedStep,
  PinnedToolStep,
  Plan,
  ToolPlanStep,
} from '../model/plan.ts';
import type { JsonSchema, ToolManifest } from '../model/tool.ts';
import { toolViolations, unknownTool } from './catalog.ts';
import { deadlinesOf, deadlineViolation } from './deadlines.ts';
import { findExpressions } from './expressions.ts';
import { checkChildrenStep } from './plan-children.ts';
import {
  type CheckContext,
  type CheckedPlan,
  checkValue,
  type DefinitionLookup,
  type KnownInput,
  namesIn,
  type Order,
  type PlanViolation,
  type Reach,
  referenceViolations,
  type ToolLookup,
  usesOf,
} from './plan-rules.ts';
import { MAX_STEPS } from './plan-shape.ts';
import { schemaViolations } from './schema-check.ts';

/**
 * Limit of a step with its policies, as it is pinned. Even eight steps of this size fit into an item of 400
 * KB.
 */
export const MAX_STEP_BYTES = 48 * 1024;

/**
 * Errors in the order of the steps. `placed`: for each step in order, what it does that is irreversible and
 * what may have to be undone.
 */
const orderViolations = (placed: readonly Reach[]): PlanViolation[] =>
  placed.flatMap(({ irreversible }, at) => {
    if (irreversible === undefined) return [];
    const after = placed.slice(at + 1).find(({ mutating }) => mutating !== undefined)?.mutating;
    if (after === undefined) return [];
    const message = `nothing takes it back, and ${after} after it may fail; put it last or behind an approval`;
    return [{ step: irreversible, rule: 'irreversible-before-compensatable' as const, message }];
  });

interface Placed {
  step: ToolPlanStep;
  tool: ToolManifest;
  index: number;
  /** Ids of the steps that its arguments name. */
  names: readonly string[];
  /** Its arguments are checked against the tool's schema when they are known. */
  isLater?: boolean;
}

/** A pinned step: the step with the policies of its tool, as the saga runs it. */
export const pin = (
  { step, tool, index, names, isLater = names.length > 0 }: Placed,
  order: Order,
): PinnedToolStep => {
  return {
    index,
    id: step.id,
    tool: tool.name,
    version: tool.version,
    arguments: step.arguments,
    uses: usesOf(names, order),
    ...(isLater && { inputSchemaHash: hashJson(tool.schemas.input) }),
    effect: tool.effect,
    functionName: tool.functionName,
    ...(tool.endpoint === undefined ? {} : { endpoint: tool.endpoint }),
    retry: tool.retry,
    idempotencyWindowSeconds: tool.idempotencyWindowSeconds,
    replaysErrors: tool.replaysErrors,
    probe: tool.probe,
    ...deadlinesOf(step, tool),
    ...(tool.externalUrl === undefined ? {} : { externalUrl: tool.externalUrl }),
    ...(tool.resourceKey === undefined ? {} : { resourceKey: tool.resourceKey }),
    ...(tool.exclusive === true ? { exclusive: true } : {}),
    ...(tool.amount === undefined ? {} : { amount: tool.amount }),
    ...(tool.currency === undefined ? {} : { currency: tool.currency }),
    ...(tool.amountDirection === undefined ? {} : { amountDirection: tool.amountDirection }),
    ...(tool.minorUnits === true ? { minorUnits: true } : {}),
    ...(step.approval === undefined ? {} : { approval: step.approval }),
  };
};

/** Expressions and prompts are texts that no schema limits, so the whole step is measured. */
const sizeViolations = (steps: readonly PinnedStep[]): PlanViolation[] =>
  steps
    .filter((step) => jsonBytes(step) > MAX_STEP_BYTES)
    .map(({ id }) => ({
      step: id,
      rule: 'step-too-large' as const,
      message: `arguments, expressions and prompt together take more than ${MAX_STEP_BYTES} bytes; shorten them`,
    }));

/** Size limit of the declared result, with its expressions. */
const MAX_OUTPUT_BYTES = 32 * 1024;

const outputOf = (
  plan: Plan,
  order: Order,
): { violations: PlanViolation[]; output?: CheckedPlan['output'] } => {
  if (plan.output === undefined) return { violations: [] };
  const violations = referenceViolations('output', plan.output, plan.steps.length, order);
  if (jsonBytes(plan.output) > MAX_OUTPUT_BYTES) {
    const message = `it takes more than ${MAX_OUTPUT_BYTES} bytes; shorten it`;
    violations.push({ step: 'output', rule: 'step-too-large', message });
  }
  if (violations.length > 0) return { violations };
  return { violations, output: { value: plan.output, uses: usesOf(namesIn(plan.output), order) } };
};

const toolReach = (step: ToolPlanStep, { effect }: ToolManifest): Reach => ({
  ...(effect === 'irreversible' && step.approval === undefined ? { irreversible: step.id } : {}),
  ...(effect === 'compensatable' || effect === 'partial' ? { mutating: step.id } : {}),
});

const checkAt = async (plan: Plan, context: CheckContext): Promise<CheckedPlan> => {
  const { known, budget } = context;
  const order = new Map<string, number>();
  const violations: PlanViolation[] = [];
  const before = budget.steps;
  budget.steps -= plan.steps.length;
  if (budget.steps < 0) {
    const message = `a saga and its children have at most ${MAX_STEPS} steps together; split it into several sagas`;
    const [first] = plan.steps;
    violations.push({ step: first?.id ?? 'plan', rule: 'too-many-steps', message });
    return { violations, steps: [], plans: [], flatCount: 0, reach: {} };
  }
  for (const [index, step] of plan.steps.entries()) {
    if (order.has(step.id)) {
      violations.push({ step: step.id, rule: 'duplicate-step', message: 'another step has this id' });
    } else order.set(step.id, index);
  }
  const steps: PinnedStep[] = [];
  const plans: PinnedPlan[] = [];
  const placed: Reach[] = [];
  const values: (() => Promise<PlanViolation[]>)[] = [];
  for (const [index, step] of plan.steps.entries()) {
    if (!('tool' in step)) {
      const checked = await checkChildrenStep(step, index, order, context, checkAt);
      violations.push(...checked.violations);
      placed.push(checked.reach);
      plans.push(...checked.plans);
      if (checked.step !== undefined) steps.push(checked.step);
      if (budget.steps < 0) break;
      continue;
    }
    const references = referenceViolations(step.id, step.arguments, index, order);
    violations.push(...references);
    const tool = context.lookup(step.tool, step.version);
    if (tool === undefined) {
      const message = unknownTool(step.tool, step.version);
      violations.push({ step: step.id, rule: 'unknown-tool', message });
      continue;
    }
    for (const message of toolViolations(tool)) {
      violations.push({ step: step.id, rule: 'compensator-missing', message });
    }
    const deadline = deadlineViolation(step, tool);
    if (deadline !== undefined) {
      violations.push({ step: step.id, rule: 'no-compensator', message: deadline });
    }
    if (references.length > 0) continue;
    placed.push(toolReach(step, tool));
    values.push(
      async () => (await checkValue(step.id, step.arguments, tool.schemas.input, known)).violations,
    );
    const names = namesIn(step.arguments);
    const isLater = names.length > 0 || (known === undefined && findExpressions(step.arguments).length > 0);
    steps.push(pin({ step, tool, index, names, isLater }, order));
  }
  violations.push(...orderViolations(placed));
  for (const check of values) violations.push(...(await check()));
  const output = outputOf(plan, order);
  violations.push(...sizeViolations(steps), ...output.violations);
  const first = (name: keyof Reach) => placed.find((reach) => reach[name] !== undefined)?.[name];
  const [irreversible, mutating] = [first('irreversible'), first('mutating')];
  return {
    violations,
    steps,
    plans: [...new Map(plans.map((one) => [one.planHash, one])).values()],
    ...(output.output === undefined ? {} : { output: output.output }),
    flatCount: before - budget.steps,
    reach: {
      ...(irreversible === undefined ? {} : { irreversible }),
      ...(mutating === undefined ? {} : { mutating }),
    },
  };
};

export interface PlanSurroundings {
  definitions?: DefinitionLookup;
  /** Name of the template that the plan belongs to. */
  name?: string | undefined;
}

/**
 * Checks a plan and those of its children against the catalog, and against its input when there is one. Returns every
 * violation, or the steps as they will run.
 */
export const checkPlan = (
  plan: Plan,
  lookup: ToolLookup,
  known?: KnownInput,
  { definitions = () => undefined, name }: PlanSurroundings = {},
): Promise<CheckedPlan> =>
  checkAt(plan, {
    lookup,
    definitions,
    known,
    within: name === undefined ? [] : [name],
    depth: 1,
    budget: { steps: MAX_STEPS },
  });

/** Throws `PlanRefused`, naming the first step and rule, with all of them in the details. */
export const requirePlan = async (
  plan: Plan,
  lookup: ToolLookup,
  known?: KnownInput,
  around: PlanSurroundings = {},
): Promise<PinnedParts> => {
  const { violations, steps, plans, output } = await checkPlan(plan, lookup, known, around);
  const [first] = violations;
  if (first === undefined) return { steps, plans, ...(output === undefined ? {} : { output }) };
  const more = violations.length === 1 ? '' : ` (and ${violations.length - 1} more)`;
  throw new WalkbackError('PlanRefused', `step ${first.step}: ${first.rule}: ${first.message}${more}`, {
    details: { violations },
  });
};

/** Throws `InvalidInput` when a saga's input does not match what the template declares. */
export const requireInput = (schema: JsonSchema, input: Json): void => {
  const [problem] = schemaViolations(schema, input);
  if (problem !== undefined) throw new WalkbackError('InvalidInput', `input: ${problem}`);
};

/** Refuses bad plans before the first effect (S8), and pins good ones. */
import type { Json, JsonObject } from '../../../contract/json.ts';
import { WalkbackError } from '../../shared/errors.ts';
import type { PinnedStep, Plan, PlanStep } from '../model/plan.ts';
import type { JsonSchema, ToolManifest } from '../model/tool.ts';
import type { Evaluate } from '../ports.ts';
import { toolViolations } from './catalog.ts';
import { findExpressions, readExpression, resolveArguments } from './expressions.ts';
import { canonicalJson, hashJson } from './json.ts';
import { schemaViolations } from './schema-check.ts';

type PlanRule =
  | 'unknown-tool'
  | 'duplicate-step'
  | 'compensator-missing'
  | 'irreversible-before-compensatable'
  | 'bad-expression'
  | 'unknown-reference'
  | 'later-reference'
  | 'arguments-schema'
  | 'arguments-too-large'
  | 'step-too-large';

export interface PlanViolation {
  step: string;
  rule: PlanRule;
  message: string;
}

/** Finds the pinned or newest version of a tool. */
export type ToolLookup = (name: string, version?: string) => ToolManifest | undefined;

/** The input of one saga, and the evaluator of the expressions that depend on it. */
interface KnownInput {
  input: Json;
  evaluate: Evaluate;
}

export const MAX_ARGUMENT_BYTES = 32 * 1024;

/**
 * Limit of a step with its policies, as it is pinned. Even eight steps of this size fit into an item of 400
 * KB.
 */
export const MAX_STEP_BYTES = 48 * 1024;

interface Placed {
  step: PlanStep;
  index: number;
  tool: ToolManifest;
  /** Ids of the steps that its arguments name. */
  names: string[];
}

const referenceViolations = (step: PlanStep, index: number, order: Map<string, number>): PlanViolation[] => {
  const violations: PlanViolation[] = [];
  const refuse = (rule: PlanRule, message: string) => violations.push({ step: step.id, rule, message });
  for (const { source } of findExpressions(step.arguments)) {
    try {
      const use = readExpression(source);
      if (use.dynamic) refuse('unknown-reference', `${source} must name a step: steps.<id>.result`);
      for (const reason of use.forbidden) refuse('bad-expression', reason);
      for (const name of use.steps) {
        const at = order.get(name);
        if (at === undefined)
          refuse('unknown-reference', `${source} names step ${name}, which the plan does not have`);
        else if (at >= index)
          refuse('later-reference', `${source} names step ${name}, which does not come earlier`);
      }
    } catch (error) {
      refuse('bad-expression', error instanceof Error ? error.message : String(error));
    }
  }
  return violations;
};

const orderViolations = (placed: readonly Placed[]): PlanViolation[] =>
  placed.flatMap(({ step, tool, index }) => {
    if (tool.effect !== 'irreversible' || step.approval !== undefined) return [];
    const after = placed.find(
      (later) =>
        later.index > index && (later.tool.effect === 'compensatable' || later.tool.effect === 'partial'),
    );
    if (after === undefined) return [];
    const message = `nothing takes it back, and ${after.step.id} after it may fail; put it last or behind an approval`;
    return [{ step: step.id, rule: 'irreversible-before-compensatable' as const, message }];
  });

/**
 * Checks the parts of the arguments that are known now: everything but earlier results when there is an
 * input, otherwise only literals.
 */
const argumentViolations = async (
  { step, tool }: Placed,
  known: KnownInput | undefined,
): Promise<PlanViolation[]> => {
  const open: string[] = [];
  for (const { pointer, source } of findExpressions(step.arguments)) {
    if (known === undefined || readExpression(source).steps.length > 0) open.push(pointer);
  }
  const refuse = (rule: PlanRule, message: string): PlanViolation => ({ step: step.id, rule, message });
  try {
    const value = known === undefined ? step.arguments : await resolveKnown(step.arguments, open, known);
    if (Buffer.byteLength(canonicalJson(value)) > MAX_ARGUMENT_BYTES) {
      return [
        refuse(
          'arguments-too-large',
          `arguments take more than ${MAX_ARGUMENT_BYTES} bytes; pass a reference`,
        ),
      ];
    }
    return schemaViolations(tool.schemas.input, value, open).map((text) => refuse('arguments-schema', text));
  } catch (error) {
    return [refuse('bad-expression', error instanceof Error ? error.message : String(error))];
  }
};

/**
 * Resolves the expressions that depend only on the input. Those that depend on results stay unevaluated.
 */
const resolveKnown = async (
  template: JsonObject,
  open: readonly string[],
  { input, evaluate }: KnownInput,
): Promise<JsonObject> => {
  const blank = (value: Json, pointer: string): Json => {
    if (open.includes(pointer)) return null;
    if (Array.isArray(value)) return value.map((item, at) => blank(item, `${pointer}/${at}`));
    if (typeof value === 'object' && value !== null) {
      const members = Object.entries(value).map(([name, member]): [string, Json] => [
        name,
        blank(member, `${pointer}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`),
      ]);
      return Object.fromEntries(members);
    }
    return value;
  };
  const blanked = Object.fromEntries(
    Object.entries(template).map(([name, member]) => [
      name,
      blank(member, `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`),
    ]),
  );
  return resolveArguments(blanked, { input, steps: {} }, evaluate);
};

/** A step with the policies of its tool, as the saga runs it. */
export const pin = ({ step, tool, index, names }: Placed, order: Map<string, number>): PinnedStep => ({
  index,
  id: step.id,
  tool: tool.name,
  version: tool.version,
  arguments: step.arguments,
  uses: [...new Set(names.flatMap((name) => order.get(name) ?? []))].sort((a, b) => a - b),
  ...(names.length > 0 && { inputSchemaHash: hashJson(tool.schemas.input) }),
  effect: tool.effect,
  functionName: tool.functionName,
  ...(tool.endpoint === undefined ? {} : { endpoint: tool.endpoint }),
  timeoutSeconds: tool.timeoutSeconds,
  retry: tool.retry,
  idempotencyWindowSeconds: tool.idempotencyWindowSeconds,
  replaysErrors: tool.replaysErrors,
  probe: tool.probe,
  ...(tool.compensation === undefined ? {} : { compensation: tool.compensation }),
  ...(tool.resourceKey === undefined ? {} : { resourceKey: tool.resourceKey }),
  ...(step.approval === undefined ? {} : { approval: step.approval }),
});

/** Expressions and prompts are text that no schema limits. */
const sizeViolations = (steps: readonly PinnedStep[]): PlanViolation[] =>
  steps
    .filter((step) => Buffer.byteLength(JSON.stringify(step)) > MAX_STEP_BYTES)
    .map(({ id }) => ({
      step: id,
      rule: 'step-too-large' as const,
      message: `arguments, expressions and prompt together take more than ${MAX_STEP_BYTES} bytes; shorten them`,
    }));

/**
 * Checks a plan against the catalog, and against its input when there is one. Returns every violation, or
 * the steps as they will run.
 */
export const checkPlan = async (
  plan: Plan,
  lookup: ToolLookup,
  known?: KnownInput,
): Promise<{ violations: PlanViolation[]; steps: PinnedStep[] }> => {
  const order = new Map<string, number>();
  const violations: PlanViolation[] = [];
  for (const [index, step] of plan.steps.entries()) {
    if (order.has(step.id)) {
      violations.push({ step: step.id, rule: 'duplicate-step', message: 'another step has this id' });
    } else order.set(step.id, index);
  }
  const placed: Placed[] = [];
  for (const [index, step] of plan.steps.entries()) {
    const references = referenceViolations(step, index, order);
    violations.push(...references);
    const tool = lookup(step.tool, step.version);
    if (tool === undefined) {
      const wanted = step.version === undefined ? step.tool : `${step.tool}@${step.version}`;
      violations.push({ step: step.id, rule: 'unknown-tool', message: `the catalog has no tool ${wanted}` });
      continue;
    }
    for (const message of toolViolations(tool)) {
      violations.push({ step: step.id, rule: 'compensator-missing', message });
    }
    if (references.length > 0) continue;
    const names = findExpressions(step.arguments).flatMap(({ source }) => readExpression(source).steps);
    placed.push({ step, index, tool, names });
  }
  violations.push(...orderViolations(placed));
  for (const place of placed) violations.push(...(await argumentViolations(place, known)));
  const steps = placed.map((place) => pin(place, order));
  return { violations: [...violations, ...sizeViolations(steps)], steps };
};

/** Throws `PlanRefused`, naming the first step and rule, with all of them in the details. */
export const requirePlan = async (
  plan: Plan,
  lookup: ToolLookup,
  known?: KnownInput,
): Promise<PinnedStep[]> => {
  const { violations, steps } = await checkPlan(plan, lookup, known);
  const [first] = violations;
  if (first === undefined) return steps;
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

/** What the checks of a plan share: the rules, and what a plan is checked against. */
import type { Json, JsonObject } from '../../../contract/json.ts';
import { canonicalJson } from '../../shared/canonical-json.ts';
import type { PinnedOutput } from '../model/children.ts';
import type { PinnedPlan, PinnedStep, Plan, SagaDefinition } from '../model/plan.ts';
import type { JsonSchema, ToolManifest } from '../model/tool.ts';
import type { Evaluate } from '../ports.ts';
import { findExpressions, readExpression, resolveArguments } from './expressions.ts';
import { schemaViolations } from './schema-check.ts';

export type PlanRule =
  | 'unknown-tool'
  | 'duplicate-step'
  | 'compensator-missing'
  | 'no-compensator'
  | 'irreversible-before-compensatable'
  | 'bad-expression'
  | 'unknown-reference'
  | 'later-reference'
  | 'arguments-schema'
  | 'arguments-too-large'
  | 'step-too-large'
  | 'unknown-definition'
  | 'duplicate-branch'
  | 'recursion'
  | 'too-deep'
  | 'too-many-children'
  | 'too-many-steps';

export interface PlanViolation {
  /** For a step of a child: the path to it, `deploy/dns/record`. */
  step: string;
  rule: PlanRule;
  message: string;
}

/** Finds the pinned or newest version of a tool. */
export type ToolLookup = (name: string, version?: string) => ToolManifest | undefined;
/** Finds the pinned or newest version of a template. */
export type DefinitionLookup = (name: string, version?: string) => SagaDefinition | undefined;

/** The input of one saga, and the evaluator of the expressions that depend on it. */
export interface KnownInput {
  input: Json;
  evaluate: Evaluate;
}

/** Where a plan stands, and what it is checked against. */
export interface CheckContext {
  lookup: ToolLookup;
  definitions: DefinitionLookup;
  known: KnownInput | undefined;
  /** Names of the templates around this plan, outermost first. */
  within: readonly string[];
  /** The root is 1. */
  depth: number;
  /** Number of steps that the whole tree may still have. */
  budget: { steps: number };
}

/**
 * What a plan does that is irreversible, and what it does that may have to be undone: in each case the path
 * of the first such step.
 */
export interface Reach {
  irreversible?: string;
  mutating?: string;
}

export interface CheckedPlan {
  violations: PlanViolation[];
  steps: PinnedStep[];
  plans: PinnedPlan[];
  output?: PinnedOutput;
  flatCount: number;
  reach: Reach;
}

export type CheckPlan = (plan: Plan, context: CheckContext) => Promise<CheckedPlan>;

export const MAX_ARGUMENT_BYTES = 32 * 1024;

/** Places of the steps by id. */
export type Order = ReadonlyMap<string, number>;

/** Errors in the references of a step's expressions, for a step at this place. */
export const referenceViolations = (
  id: string,
  value: Json,
  index: number,
  order: Order,
): PlanViolation[] => {
  const violations: PlanViolation[] = [];
  const refuse = (rule: PlanRule, message: string) => violations.push({ step: id, rule, message });
  for (const { source } of findExpressions(value)) {
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

/** Ids of the steps that a value names. */
export const namesIn = (value: Json): string[] =>
  findExpressions(value).flatMap(({ source }) => readExpression(source).steps);

export const usesOf = (names: readonly string[], order: Order): number[] =>
  [...new Set(names.flatMap((name) => order.get(name) ?? []))].sort((a, b) => a - b);

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

/** Name for a single value, since expressions are found by pointers into an object. */
const BOXED = 'value';

/**
 * Checks the parts of a value that are known now: with an input, everything that does not depend on results;
 * without one, only literals. `value`: the whole value, when all of it is known.
 */
export const checkValue = async (
  id: string,
  template: Json,
  schema: JsonSchema,
  known: KnownInput | undefined,
): Promise<{ violations: PlanViolation[]; value?: Json }> => {
  const open: string[] = [];
  for (const { pointer, source } of findExpressions(template)) {
    if (known === undefined || readExpression(source).steps.length > 0) open.push(pointer);
  }
  const refuse = (rule: PlanRule, message: string): PlanViolation => ({ step: id, rule, message });
  try {
    const boxed = { [BOXED]: template };
    const inBox = open.map((pointer) => `/${BOXED}${pointer}`);
    const value = known === undefined ? template : ((await resolveKnown(boxed, inBox, known))[BOXED] ?? null);
    if (Buffer.byteLength(canonicalJson(value)) > MAX_ARGUMENT_BYTES) {
      const message = `arguments take more than ${MAX_ARGUMENT_BYTES} bytes; pass a reference`;
      return { violations: [refuse('arguments-too-large', message)] };
    }
    const violations = schemaViolations(schema, value, open).map((text) => refuse('arguments-schema', text));
    return { violations, ...(open.length === 0 ? { value } : {}) };
  } catch (error) {
    return { violations: [refuse('bad-expression', error instanceof Error ? error.message : String(error))] };
  }
};

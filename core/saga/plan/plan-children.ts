/**
 * Checks and pins the steps of a plan that run children. The children's plans are checked like any other, one
 * level deeper.
 */
import type { Json } from '../../../contract/json.ts';
import { hashJson } from '../../shared/canonical-json.ts';
import type { BranchFailure, PinnedChild, PinnedChildrenStep } from '../model/children.ts';
import type { AskedPolicy } from '../model/interactive.ts';
import type { ChildSource, PinnedPlan, Plan, PlanStep, SagaDefinition, ToolPlanStep } from '../model/plan.ts';
import { unknownTool } from './catalog.ts';
import { findExpressions } from './expressions.ts';
import { namedProblem } from './named-size.ts';
import { pinSteps } from './pinned-steps.ts';
import {
  type CheckContext,
  type CheckPlan,
  checkValue,
  namesIn,
  type Order,
  type PlanRule,
  type PlanViolation,
  type Reach,
  referenceViolations,
  usesOf,
} from './plan-rules.ts';
import { MAX_CHILDREN } from './plan-shape.ts';
import { pinnedPolicy } from './policy.ts';

/** Levels of sagas, the root included. */
const MAX_DEPTH = 5;

export type ChildrenPlanStep = Exclude<PlanStep, ToolPlanStep>;

interface Branch {
  branch: string;
  source: ChildSource;
  /** Set instead of a source. */
  interactive?: AskedPolicy;
  /** The child's input. For `each` it is an element of the list, which is not known yet. */
  input: Json | undefined;
}

export const branchesOf = (step: ChildrenPlanStep): Branch[] => {
  if ('saga' in step) return [{ branch: step.id, source: step.saga, input: step.input ?? {} }];
  if ('branches' in step) {
    return step.branches.map(({ id, input, ...source }) => ({ branch: id, source, input: input ?? {} }));
  }
  if ('interactive' in step) {
    const { id, interactive, input = {} } = step;
    return [{ branch: id, source: {}, interactive, input }];
  }
  return [{ branch: step.id, source: step, input: undefined }];
};

const kindOf = (step: ChildrenPlanStep): PinnedChildrenStep['tool'] => {
  if ('saga' in step) return 'saga';
  if ('branches' in step) return 'branches';
  return 'each' in step ? 'each' : 'interactive';
};

const policyOf = (step: ChildrenPlanStep): BranchFailure | undefined =>
  'saga' in step || 'interactive' in step ? undefined : (step.onBranchFailure ?? 'sharing');

/** The values that the step itself reads from the saga around it. */
const valuesOf = (step: ChildrenPlanStep): Json =>
  'each' in step ? step.each : branchesOf(step).map(({ input }) => input ?? null);

interface CheckedChild {
  violations: PlanViolation[];
  child?: PinnedChild;
  plans: PinnedPlan[];
  reach: Reach;
}

const within = (path: string, reach: Reach): Reach => ({
  ...(reach.irreversible === undefined ? {} : { irreversible: `${path}/${reach.irreversible}` }),
  ...(reach.mutating === undefined ? {} : { mutating: `${path}/${reach.mutating}` }),
});

/**
 * Nothing is known about an interactive child's steps, except that they can be taken back: a step that cannot
 * is behind an approval of its own (L1), unless the policy allows it.
 */
const checkInteractive = async (
  { branch, input = null }: Branch,
  asked: AskedPolicy,
  path: string,
  { known, lookup }: CheckContext,
): Promise<CheckedChild> => {
  const { planHash } = pinSteps([]);
  const { violations } = await checkValue(path, input, {}, known);
  const { allowIrreversible = [] } = asked;
  for (const name of allowIrreversible) {
    if (lookup(name) !== undefined) continue;
    const message = `interactive.allowIrreversible: ${unknownTool(name)}`;
    violations.push({ step: path, rule: 'unknown-tool', message });
  }
  return {
    violations,
    child: { branch, planHash, stepCount: 0, flatCount: 0, input, interactive: pinnedPolicy(asked) },
    plans: [{ planHash, steps: [] }],
    reach: { mutating: path, ...(allowIrreversible.length === 0 ? {} : { irreversible: path }) },
  };
};

const checkChild = async (
  { branch, source, input, interactive }: Branch,
  path: string,
  context: CheckContext,
  checkPlan: CheckPlan,
): Promise<CheckedChild> => {
  const refused = (rule: PlanRule, message: string): CheckedChild => ({
    violations: [{ step: path, rule, message }],
    plans: [],
    reach: {},
  });
  const { definition: name, version } = source;
  const definition = name === undefined ? undefined : context.definitions(name, version);
  if (name !== undefined && definition === undefined) {
    const wanted = version === undefined ? name : `${name}@${version}`;
    return refused('unknown-definition', `the catalog has no definition ${wanted}`);
  }
  if (name !== undefined && context.within.includes(name)) {
    return refused('recursion', `${[...context.within, name].join(' > ')}: a template does not run itself`);
  }
  if (context.depth >= MAX_DEPTH) {
    return refused(
      'too-deep',
      `sagas are at most ${MAX_DEPTH} levels deep; put its steps into the level above`,
    );
  }
  if (interactive !== undefined) {
    return checkInteractive({ branch, source, input }, interactive, path, context);
  }
  const plan: Plan = definition?.plan ?? source.plan ?? { steps: [] };
  const schema = definition?.input ?? {};
  const given =
    input === undefined ? { violations: [] } : await checkValue(path, input, schema, context.known);
  const { known } = context;
  const checked = await checkPlan(plan, {
    ...context,
    known: known === undefined || given.value === undefined ? undefined : { ...known, input: given.value },
    within: name === undefined ? context.within : [...context.within, name],
    depth: context.depth + 1,
  });
  const { planHash } = pinSteps(checked.steps);
  return {
    violations: [
      ...given.violations,
      ...checked.violations.map((one) => ({ ...one, step: `${path}/${one.step}` })),
    ],
    child: {
      branch,
      planHash,
      stepCount: checked.steps.length,
      flatCount: checked.flatCount,
      ...(definition === undefined ? {} : pinnedDefinition(definition)),
      input: input ?? null,
      ...(checked.output === undefined ? {} : { output: checked.output }),
    },
    plans: [{ planHash, steps: checked.steps }, ...checked.plans],
    reach: within(path, checked.reach),
  };
};

const pinnedDefinition = ({ name, version, input }: SagaDefinition) => ({
  definition: `${name}@${version}`,
  inputSchemaHash: hashJson(input),
});

/** With `all`, one branch that fails takes back the others, so no branch may do anything irreversible. */
const parallelViolations = (
  step: ChildrenPlanStep,
  children: readonly CheckedChild[],
  isRepeated: boolean,
): PlanViolation[] => {
  if (policyOf(step) !== 'all' || step.approval !== undefined) return [];
  return children.flatMap(({ reach }, at): PlanViolation[] => {
    const other = children.find(
      (one, place) => (place !== at || isRepeated) && one.reach.mutating !== undefined,
    );
    if (reach.irreversible === undefined || other?.reach.mutating === undefined) return [];
    const message = `nothing takes it back, and ${other.reach.mutating} beside it may fail; put it behind an approval`;
    return [{ step: reach.irreversible, rule: 'irreversible-before-compensatable', message }];
  });
};

/**
 * Wraps the expression of `each` so that it always gives a list. In JSONata, one value and a list of one are
 * the same, and an empty list has no value.
 */
export const listOf = (each: string): string => {
  const [found] = findExpressions(each);
  return `{% $append([], (${found?.source ?? ''})) %}`;
};

/** `child`: what each element will run, as far as it has been checked. */
const listViolations = async (
  step: ChildrenPlanStep,
  child: PinnedChild | undefined,
  { known }: CheckContext,
): Promise<PlanViolation[]> => {
  if (!('each' in step)) return [];
  const refuse = (rule: PlanRule, message: string) => [{ step: step.id, rule, message }];
  const [expression] = findExpressions(step.each);
  if (expression === undefined || expression.pointer !== '') {
    return refuse('bad-expression', 'each is an expression that makes a list: {% input.orders %}');
  }
  if (known === undefined || namesIn(step.each).length > 0) return [];
  const { violations, value } = await checkValue(step.id, listOf(step.each), {}, known);
  if (violations.length > 0 || !Array.isArray(value)) return violations;
  if (value.length > MAX_CHILDREN) {
    return refuse(
      'too-many-children',
      `a step has at most ${MAX_CHILDREN} children, and the list has ${value.length}`,
    );
  }
  const named = value.map(() => (child?.output === undefined ? {} : { output: child.output }));
  const problem = namedProblem(step.id, value, named);
  return problem === undefined ? [] : refuse('too-many-children', problem);
};

export interface CheckedStep {
  violations: PlanViolation[];
  step?: PinnedChildrenStep;
  plans: PinnedPlan[];
  reach: Reach;
}

export const checkChildrenStep = async (
  step: ChildrenPlanStep,
  index: number,
  order: Order,
  context: CheckContext,
  checkPlan: CheckPlan,
): Promise<CheckedStep> => {
  const values = valuesOf(step);
  const violations = referenceViolations(step.id, values, index, order);
  const branches = branchesOf(step);
  const refuse = (rule: PlanRule, message: string) => violations.push({ step: step.id, rule, message });
  const names = new Set(branches.map(({ branch }) => branch));
  if (names.size < branches.length) refuse('duplicate-branch', 'two branches have one id');
  if (branches.length > MAX_CHILDREN) {
    refuse('too-many-children', `a step has at most ${MAX_CHILDREN} children; use several steps`);
  }
  if (violations.length > 0) return { violations, plans: [], reach: {} };
  const children: CheckedChild[] = [];
  for (const one of branches) {
    const path = 'branches' in step ? `${step.id}/${one.branch}` : step.id;
    children.push(await checkChild(one, path, context, checkPlan));
  }
  violations.push(...(await listViolations(step, children[0]?.child, context)));
  violations.push(...children.flatMap((one) => one.violations));
  violations.push(...parallelViolations(step, children, 'each' in step));
  const mutating = children.find(({ reach }) => reach.mutating !== undefined)?.reach.mutating;
  const irreversible = children.find(({ reach }) => reach.irreversible !== undefined)?.reach.irreversible;
  const reach: Reach = {
    ...(mutating === undefined ? {} : { mutating }),
    ...(irreversible === undefined || step.approval !== undefined ? {} : { irreversible }),
  };
  const pinned: PinnedChildrenStep = {
    kind: 'children',
    index,
    id: step.id,
    tool: kindOf(step),
    version: '1',
    effect: children.some(
      ({ child, plans }) =>
        child?.interactive !== undefined ||
        plans.some(({ steps }) => steps.some(({ effect }) => effect !== 'read')),
    )
      ? 'compensatable'
      : 'read',
    ...('each' in step ? { each: step.each } : {}),
    children: children.flatMap(({ child }) => child ?? []),
    onBranchFailure: policyOf(step) ?? 'all',
    uses: usesOf(namesIn(values), order),
    ...(step.timeoutSeconds === undefined ? {} : { timeoutSeconds: step.timeoutSeconds }),
    ...(step.approval === undefined ? {} : { approval: step.approval }),
  };
  const plans = [...new Map(children.flatMap((one) => one.plans).map((one) => [one.planHash, one])).values()];
  return { violations, step: pinned, plans, reach };
};

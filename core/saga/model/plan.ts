/** What a saga is asked to do: plans, stored templates, and the parts that are pinned when it starts. */
import type { StepDeadlines } from '../../../contract/deadlines.ts';
import type { Json, JsonObject } from '../../../contract/json.ts';
import type { BranchFailure, PinnedChildrenStep, PinnedOutput } from './children.ts';
import type { AskedPolicy } from './interactive.ts';
import type { Approval, JsonSchema, ToolPolicy } from './tool.ts';

/** Calls a tool. */
export interface ToolPlanStep extends StepDeadlines {
  id: string;
  tool: string;
  /** Exact version; the newest when absent. Pinned at start either way. */
  version?: string;
  /** JSON; strings of the form `{% expression %}` are JSONata over `input` and `steps.<id>.result`. */
  arguments: JsonObject;
  /** The step waits for a person before it starts. */
  approval?: Approval;
}

/** Exactly one of the two: a template of the catalog, by name, or a plan written in place. */
export interface ChildSource {
  definition?: string;
  /** Version of the template; the newest when absent. Pinned at start either way. */
  version?: string;
  plan?: Plan;
}

interface ChildrenStep {
  id: string;
  /** After this time the children that still run are cancelled, and the step fails. */
  timeoutSeconds?: number;
  approval?: Approval;
}

/** One child. */
interface SagaPlanStep extends ChildrenStep {
  saga: ChildSource;
  /** The input of the child: JSON with JSONata, like arguments of a tool. */
  input?: Json;
}

/** Named children, side by side. */
interface BranchesPlanStep extends ChildrenStep {
  branches: ({ id: string; input?: Json } & ChildSource)[];
  onBranchFailure?: BranchFailure;
}

/** One child for each element of a list, side by side. The element is its input. */
interface EachPlanStep extends ChildrenStep, ChildSource {
  /** `{% expression %}` */
  each: string;
  onBranchFailure?: BranchFailure;
}

/** One child whose steps an agent submits. The step's result is what the agent closes it with. */
interface InteractivePlanStep extends ChildrenStep {
  interactive: AskedPolicy;
  /** As in a `saga` step. It is what the agent is told. */
  input?: Json;
}

/** The keys of a step say which kind it is: `tool`, `saga`, `branches`, `each` or `interactive`. */
export type PlanStep = ToolPlanStep | SagaPlanStep | BranchesPlanStep | EachPlanStep | InteractivePlanStep;

export interface Plan {
  steps: PlanStep[];
  /** JSON with JSONata over `input` and the steps: what the saga answers when it is completed. */
  output?: Json;
}

/** A stored template; immutable per version. */
export interface SagaDefinition {
  name: string;
  version: string;
  description: string;
  /** `YYYY-MM-DD`: after this day the template shows up as due for review. */
  reviewBy: string;
  input: JsonSchema;
  plan: Plan;
}

/** A step that calls a tool, with the tool's policies and the step's deadlines. Only a step that runs children has a kind. */
export interface PinnedToolStep extends ToolPolicy {
  kind?: undefined;
  index: number;
  id: string;
  tool: string;
  version: string;
  arguments: JsonObject;
  /** Indexes of the earlier steps whose results the arguments use. */
  uses: number[];
  /**
   * Hash of the tool's input schema in the catalog. Set when the arguments use results, so that they can be
   * checked only later.
   */
  inputSchemaHash?: string;
  approval?: Approval;
  /**
   * Set when a deadline of the step is shorter than the one that its tool declares. The tool's function may
   * still run this long, and until then a lost call may act (S3).
   */
  mayRunSeconds?: number;
  /** The arguments are plain data; nothing in them is an expression. */
  literal?: true;
}

/** A step as the saga runs it: nothing in it changes after the start (S8, S10). */
export type PinnedStep = PinnedToolStep | PinnedChildrenStep;

/** The steps of a child, pinned with the root and found by this hash. */
export interface PinnedPlan {
  planHash: string;
  steps: PinnedStep[];
}

/**
 * The parts pinned at the start. They never change. Steps are found by `planHash`, the input by
 * `inputHash`.
 */
export interface PinnedSaga {
  sagaId: string;
  planHash: string;
  inputHash: string;
  input: Json;
  steps: PinnedStep[];
  /** Plans of its children, and of theirs. */
  plans?: PinnedPlan[];
}

/** A checked plan, as it will run. */
export interface PinnedParts {
  steps: PinnedStep[];
  plans: PinnedPlan[];
  output?: PinnedOutput;
}

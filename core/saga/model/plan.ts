/** What a saga is asked to do: plans, stored templates, and the parts that are pinned when it starts. */
import type { Json, JsonObject } from '../../../contract/json.ts';
import type { JsonSchema, ToolPolicy } from './tool.ts';

interface Approval {
  timeoutSeconds: number;
  /** The question that the approver sees. */
  prompt?: string;
}

export interface PlanStep {
  id: string;
  tool: string;
  /** Exact version; the newest when absent. Pinned at start either way. */
  version?: string;
  /** JSON; strings of the form `{% expression %}` are JSONata over `input` and `steps.<id>.result`. */
  arguments: JsonObject;
  /** The step waits for a person before it starts. */
  approval?: Approval;
}

export interface Plan {
  steps: PlanStep[];
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

/** A step as the saga runs it: nothing in it changes after the start (S8, S10). */
export interface PinnedStep extends ToolPolicy {
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
  /** The arguments are data as they are, and nothing in them is an expression. */
  literal?: true;
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
}

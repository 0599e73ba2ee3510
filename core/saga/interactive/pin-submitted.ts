/** Checks a submitted step against the catalog before anything is written (S8), and pins it. */
import type { StepDeadlines } from '../../../contract/deadlines.ts';
import type { JsonObject } from '../../../contract/json.ts';
import { canonicalJson } from '../../shared/canonical-json.ts';
import { WalkbackError } from '../../shared/errors.ts';
import { jsonBytes } from '../../shared/json-bytes.ts';
import type { InteractivePolicy } from '../model/interactive.ts';
import type { PinnedToolStep } from '../model/plan.ts';
import { toolViolations, unknownTool } from '../plan/catalog.ts';
import { deadlineViolation } from '../plan/deadlines.ts';
import { MAX_ARGUMENT_BYTES } from '../plan/plan-rules.ts';
import { MAX_STEP_BYTES, pin } from '../plan/plan-validation.ts';
import { schemaViolations } from '../plan/schema-check.ts';
import type { SagaStore } from '../ports.ts';

export interface AskedStep extends StepDeadlines {
  stepId: string;
  tool: string;
  version?: string;
  arguments: JsonObject;
}

const bytesOf = (value: JsonObject): number => Buffer.byteLength(canonicalJson(value));

/** Throws `PlanRefused`, by the same rules as for plans. Arguments are plain data: they hold no expressions. */
export const pinSubmitted = async (
  store: Pick<SagaStore, 'getTool'>,
  { allowIrreversible = [], approvalTimeoutSeconds }: InteractivePolicy,
  asked: AskedStep,
): Promise<PinnedToolStep> => {
  const refuse = (rule: string, message: string): never => {
    throw new WalkbackError('PlanRefused', `step ${asked.stepId}: ${rule}: ${message}`, {
      details: { violations: [{ step: asked.stepId, rule, message }] },
    });
  };
  const tool = await store.getTool(asked.tool, asked.version);
  if (tool === undefined) return refuse('unknown-tool', unknownTool(asked.tool, asked.version));
  const [unsafe] = toolViolations(tool);
  if (unsafe !== undefined) return refuse('compensator-missing', unsafe);
  const deadline = deadlineViolation(asked, tool);
  if (deadline !== undefined) return refuse('no-compensator', deadline);
  if (bytesOf(asked.arguments) > MAX_ARGUMENT_BYTES) {
    const message = `arguments take more than ${MAX_ARGUMENT_BYTES} bytes; pass a reference`;
    return refuse('arguments-too-large', message);
  }
  const [violation] = schemaViolations(tool.schemas.input, asked.arguments);
  if (violation !== undefined) return refuse('arguments-schema', violation);
  // Nothing takes it back, so a person says yes first (L1).
  const isGated = tool.effect === 'irreversible' && !allowIrreversible.includes(tool.name);
  const approval = isGated ? { approval: { timeoutSeconds: approvalTimeoutSeconds } } : {};
  const { timeoutSeconds, compensation } = asked;
  const step = {
    id: asked.stepId,
    tool: tool.name,
    arguments: asked.arguments,
    timeoutSeconds,
    compensation,
    ...approval,
  };
  const pinned = { ...pin({ step, tool, index: 0, names: [] }, new Map()), literal: true as const };
  if (jsonBytes(pinned) > MAX_STEP_BYTES) {
    return refuse('step-too-large', `with its policies it takes more than ${MAX_STEP_BYTES} bytes`);
  }
  return pinned;
};

/** The shapes that plans and their steps may have. The keys of a step say which kind it is. */

import * as z from 'zod';
import { stepDeadlines } from '../../../contract/deadlines.ts';
import { interactivePolicy } from '../../../contract/interactive.ts';
import { jsonObject, jsonValue } from '../../../contract/json.ts';
import { DAY_SECONDS } from '../../../contract/times.ts';
import type { Plan, PlanStep } from '../model/plan.ts';

/** Names of tools, templates, steps and branches. */
export const NAME = /^[a-z][a-z0-9_-]{0,47}$/;

/** Most steps of a saga. Up to this limit, the head fits into one item and the observation into one answer. */
export const MAX_STEPS = 1000;

/** Most children of one step. */
export const MAX_CHILDREN = 40;

const MAX_SECONDS = 366 * DAY_SECONDS;

const approval = z.strictObject({
  timeoutSeconds: z.int().min(1).max(MAX_SECONDS),
  prompt: z.string().max(2000).optional(),
});

const toolStep = z.strictObject({
  id: z.string().regex(NAME),
  tool: z.string(),
  version: z.string().optional(),
  arguments: jsonObject,
  approval: approval.optional(),
  ...stepDeadlines(),
});

const childrenFields = {
  id: z.string().regex(NAME),
  timeoutSeconds: z.int().min(1).max(MAX_SECONDS).optional(),
  approval: approval.optional(),
};

const sourceFields = {
  definition: z.string().optional(),
  version: z.string().optional(),
  get plan() {
    return planSchema.optional();
  },
};

const isOneSource = ({
  definition,
  version,
  plan,
}: Partial<Record<'definition' | 'version' | 'plan', unknown>>) =>
  (definition === undefined) !== (plan === undefined) && (version === undefined || plan === undefined);
const ONE_SOURCE = { error: 'a child has either a definition, with a version if wanted, or a plan' };

const onBranchFailure = z.enum(['sharing', 'all', 'isolate', 'report']).optional();

const sagaStep = z.strictObject({
  ...childrenFields,
  saga: z.lazy(() => z.strictObject(sourceFields).refine(isOneSource, ONE_SOURCE)),
  input: jsonValue.optional(),
});

const branchesStep = z.strictObject({
  ...childrenFields,
  branches: z
    .array(
      z.lazy(() =>
        z
          .strictObject({ id: z.string().regex(NAME), input: jsonValue.optional(), ...sourceFields })
          .refine(isOneSource, ONE_SOURCE),
      ),
    )
    .min(1),
  onBranchFailure,
});

const eachStep = z.lazy(() =>
  z
    .strictObject({ ...childrenFields, each: z.string(), ...sourceFields, onBranchFailure })
    .refine(isOneSource, ONE_SOURCE),
);

const interactiveStep = z.strictObject({
  ...childrenFields,
  interactive: interactivePolicy(),
  input: jsonValue.optional(),
});

const SHAPES = {
  tool: toolStep,
  saga: sagaStep,
  branches: branchesStep,
  each: eachStep,
  interactive: interactiveStep,
} as const;
type Kind = keyof typeof SHAPES;
const KINDS = ['tool', 'saga', 'branches', 'each', 'interactive'] as const satisfies Kind[];

const kindsOf = (value: unknown): Kind[] =>
  typeof value === 'object' && value !== null ? KINDS.filter((kind) => Object.hasOwn(value, kind)) : [];

const stepSchema: z.ZodType<PlanStep> = z.unknown().transform((value, context): PlanStep => {
  const [kind, ...more] = kindsOf(value);
  if (kind === undefined || more.length > 0) {
    const message = `a step has one of the keys ${KINDS.join(', ')}, which says its kind`;
    context.issues.push({ code: 'custom', message, input: value });
    return z.NEVER;
  }
  const parsed: z.ZodSafeParseResult<PlanStep> = SHAPES[kind].safeParse(value);
  if (parsed.success) return parsed.data;
  for (const { message, path } of parsed.error.issues) {
    context.issues.push({ code: 'custom', message, path, input: value });
  }
  return z.NEVER;
});

export const planSchema: z.ZodType<Plan> = z.strictObject({
  steps: z
    .array(stepSchema)
    .min(1)
    .max(MAX_STEPS, { error: `a plan has at most ${MAX_STEPS} steps; split it into several sagas` }),
  output: jsonValue.optional(),
});

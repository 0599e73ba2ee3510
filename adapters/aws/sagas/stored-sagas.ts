/**
 * Schemas of the items of the Sagas table, one for each kind of item. Reading accepts unknown attributes,
 * because a later release may have added them. The audit refuses unknown attributes where this file says so.
 */
import * as z from 'zod';
import { AMOUNT_DIRECTIONS } from '../../../contract/amount-direction.ts';
import { SAGA_STATUSES } from '../../../contract/saga-observation.ts';
import type { PinnedStep, Plan, SagaDefinition } from '../../../core/saga/model/plan.ts';
import type { SagaState, Wait } from '../../../core/saga/model/state.ts';
import type { ToolManifest } from '../../../core/saga/model/tool.ts';
import {
  EFFECT_KINDS,
  entryLink,
  failure,
  interactive,
  json,
  jsonObject,
  namedError,
  pinnedOutput,
} from './stored-entries.ts';

const count = z.int().min(0);
const text = z.string();
const time = z.iso.datetime();
const hash = z.string().regex(/^[0-9a-f]{64}$/);

const operation = z.looseObject({
  effect: count,
  direction: z.enum(['forward', 'probe', 'undo']),
  attempt: count,
  probes: count,
  stage: z.enum(['invoking', 'retry', 'doubt']),
  generation: count,
  deadlineMs: z.number(),
  firstMs: z.number(),
  doubted: z.boolean(),
  answered: z.boolean(),
  probed: z.enum(['absent', 'unknown']).nullable(),
  argumentsHash: text,
  error: namedError.nullable(),
  unreached: count.optional(),
  unreachedProbes: count.optional(),
  unreachedSinceMs: z.number().optional(),
  resource: text.optional(),
  hurried: z.literal(true).optional(),
});

const plan = z.looseObject({ planHash: hash, stepCount: count });
const replacedPlan = plan.extend({ epoch: count, from: count });
const rewind = z.looseObject({
  requestId: text,
  floor: count,
  cursor: count,
  acceptResidue: z.literal(true).optional(),
  plan: plan.optional(),
});
/** One schema for each kind of wait. The compiler reports one that is missing here. */
const WAITS: { [K in Wait['kind']]: z.ZodType<Omit<Extract<Wait, { kind: K }>, 'kind'>> } = {
  approval: z.looseObject({ step: count, untilMs: z.number(), argumentsHash: text }),
  'next-step': z.looseObject({ untilMs: z.number(), asked: z.literal(true).optional() }),
  parked: z.looseObject({ sessionId: text.optional(), untilMs: z.null() }),
  children: z.looseObject({
    step: count,
    effect: count,
    direction: z.enum(['forward', 'undo']),
    ended: text,
    told: text,
    toldSeq: count.optional(),
    deadlineMs: z.number().optional(),
    overdue: z.literal(true).optional(),
  }),
  resource: z.looseObject({ step: count, semaphores: z.array(text), untilMs: z.number().nullable() }),
  slot: z.looseObject({ semaphores: z.array(text), untilMs: z.null() }),
};
const waitSchemas = new Map<unknown, z.ZodType>(Object.entries(WAITS));
const waitKind = z
  .looseObject({ kind: z.unknown() })
  .refine(({ kind }) => waitSchemas.has(kind), { path: ['kind'] });

const wait = z.custom<Wait>().superRefine((value, context) => {
  const kind = waitKind.safeParse(value);
  const parsed = kind.success ? waitSchemas.get(kind.data.kind)?.safeParse(value) : kind;
  for (const { message, path } of parsed?.error?.issues ?? []) {
    context.addIssue({ code: 'custom', message, path });
  }
});

/** The state as JSON. The effects are packed beside it. */
export const storedState: z.ZodType<Omit<SagaState, 'effects'>> = z.looseObject({
  status: z.enum(SAGA_STATUSES),
  phase: z.enum(['forward', 'undo', 'done']),
  epoch: count,
  generation: count,
  resumes: count,
  stepCount: count,
  cursor: count,
  operation: operation.nullable(),
  wait: wait.nullable(),
  pauseUntilMs: z.number().nullable(),
  approvedStep: count.nullable(),
  approvedHash: text.optional(),
  cancelRequested: z.boolean(),
  undoRequested: z.literal(true).optional(),
  rewind: rewind.optional(),
  plans: z.array(replacedPlan).optional(),
  output: z.literal(true).optional(),
  sealed: z.literal(true).optional(),
  failure: failure.nullable(),
  interactive: interactive.optional(),
  submitted: z.looseObject({ index: count, step: text, planHash: text }).optional(),
  inline: z.literal(true).optional(),
  undoFrom: count.optional(),
  slot: count.nullish(),
  locking: z.literal(true).optional(),
  locked: z.literal(true).optional(),
  alert: z.looseObject({ status: z.enum(['delivered', 'refused']), generation: count }).optional(),
});

/** We never write any other attribute. `expiresAt`, for example, would make the table delete the head. */
export const storedHead = z.strictObject({
  pk: z.string().startsWith('SAGA#'),
  sk: z.literal('HEAD'),
  format: z.int().min(1),
  version: count,
  seq: count,
  tip: hash,
  status: text,
  waitUntilMs: count.optional(),
  state: z.instanceof(Uint8Array),
  effects: z.instanceof(Uint8Array),
  requestHash: hash,
  planHash: hash,
  inputHash: hash,
  definition: text.optional(),
  sessionId: text.optional(),
  messageId: text.optional(),
  parent: entryLink.optional(),
  root: text.optional(),
  project: text.optional(),
  maxConcurrent: count.optional(),
  requestedBy: text,
  historyEvents: count,
  createdAt: time,
  updatedAt: time,
  statusSince: time,
});

/**
 * Read from an index. One bad end of a wait must not keep the sweeper from all other sagas; the head's reader
 * reports it.
 */
export const storedOutline = z.looseObject({
  pk: text,
  statusSince: text,
  waitUntilMs: z.number().nullable().catch(null),
});

export const storedInput = z.strictObject({ pk: text, sk: text, input: text });
export const storedChunk = z.strictObject({ pk: text, sk: text, steps: text, proof: z.array(text) });

export const storedRewind = z.looseObject({
  pk: text,
  sk: text,
  sessionId: text,
  requestId: text,
  requestHash: hash,
  checkpointId: text,
  epoch: count,
  by: text,
  guidance: text.optional(),
  residue: z.array(text).optional(),
  at: time,
  doneAt: time.optional(),
});

export const storedPark = z.looseObject({
  sessionId: text,
  requestId: text,
  sagas: z.array(z.looseObject({ sagaId: text, seq: count })),
});

export const storedSessionSaga = z.looseObject({ sagaId: text, createdAt: time });

export const storedToken = z.looseObject({
  sagaId: text,
  generation: count,
  step: count,
  enteredMs: count,
  retry: count,
  token: text,
});

export const storedSubmitted = z.strictObject({
  pk: text,
  sk: text,
  stepId: text,
  index: count,
  seq: count,
  requestHash: hash,
  planHash: hash,
  step: text,
});

/** An entry of the catalog, as JSON. */
export const storedVersion = z.looseObject({ entry: text });

const retry = z.looseObject({
  maxAttempts: z.number(),
  backoffSeconds: z.number(),
  backoffRate: z.number(),
  maxBackoffSeconds: z.number(),
});

const compensation = z.looseObject({
  name: text,
  timeoutSeconds: z.number(),
  retry: retry.extend({
    jitter: z.number().optional(),
    delayedAfterSeconds: z.number().optional(),
    giveUpAfterSeconds: z.number().optional(),
  }),
  amount: text.optional(),
  currency: text.optional(),
});

const tool = z.looseObject({
  effect: z.enum(EFFECT_KINDS),
  functionName: text,
  endpoint: text.optional(),
  timeoutSeconds: z.number(),
  retry,
  idempotencyWindowSeconds: z.number(),
  replaysErrors: z.boolean(),
  probe: z.boolean(),
  compensation: compensation.optional(),
  externalUrl: text.optional(),
  resourceKey: text.optional(),
  exclusive: z.boolean().optional(),
  amount: text.optional(),
  currency: text.optional(),
  amountDirection: z.enum(AMOUNT_DIRECTIONS).optional(),
  minorUnits: z.boolean().optional(),
});

const approval = z.looseObject({ timeoutSeconds: z.number(), prompt: text.optional() });

const toolStep = tool.extend({
  kind: z.undefined().optional(),
  index: count,
  id: text,
  tool: text,
  version: text,
  arguments: jsonObject,
  uses: z.array(count),
  inputSchemaHash: text.optional(),
  approval: approval.optional(),
  mayRunSeconds: z.number().optional(),
  literal: z.literal(true).optional(),
});

const childrenStep = z.looseObject({
  kind: z.literal('children'),
  index: count,
  id: text,
  tool: z.enum(['saga', 'branches', 'each', 'interactive']),
  version: text,
  effect: z.enum(['read', 'compensatable']),
  each: text.optional(),
  children: z.array(
    z.looseObject({
      branch: text,
      planHash: text,
      stepCount: count,
      flatCount: count,
      definition: text.optional(),
      inputSchemaHash: text.optional(),
      input: json,
      output: pinnedOutput.optional(),
      interactive: interactive.optional(),
    }),
  ),
  onBranchFailure: z.enum(['sharing', 'all', 'isolate', 'report']),
  uses: z.array(count),
  timeoutSeconds: z.number().optional(),
  approval: approval.optional(),
});

export const pinnedSteps: z.ZodType<PinnedStep[]> = z.array(z.union([childrenStep, toolStep]));

export const manifest: z.ZodType<ToolManifest> = tool.extend({
  name: text,
  version: text,
  description: text,
  reviewBy: text.optional(),
  schemas: z.looseObject({ input: jsonObject, output: jsonObject, compensation: jsonObject.optional() }),
});

const storedPlan = z.looseObject({
  steps: z.array(
    z.union([
      z.looseObject({
        id: text,
        tool: text,
        version: text.optional(),
        arguments: jsonObject,
        approval: approval.optional(),
        timeoutSeconds: z.number().optional(),
        compensation: z.looseObject({ timeoutSeconds: z.number() }).optional(),
      }),
      // The rules of such plans are checked when a saga starts.
      z.looseObject({ id: text, saga: jsonObject }),
      z.looseObject({ id: text, branches: z.array(jsonObject) }),
      z.looseObject({ id: text, each: text }),
      z.looseObject({ id: text, interactive: jsonObject }),
    ]),
  ),
});

export const definition: z.ZodType<SagaDefinition> = z.looseObject({
  name: text,
  version: text,
  description: text,
  reviewBy: text,
  input: jsonObject,
  plan: z.custom<Plan>((value) => storedPlan.safeParse(value).success, 'no plan'),
});

/**
 * The shapes that a catalog entry and a plan may have. The rules for their meaning are in
 * `plan-validation.ts`.
 */

import * as z from 'zod';
import { AMOUNT_DIRECTIONS } from '../../../contract/amount-direction.ts';
import { callSeconds } from '../../../contract/deadlines.ts';
import { DAY_MS, DAY_SECONDS, HOUR_SECONDS } from '../../../contract/times.ts';
import { WalkbackError } from '../../shared/errors.ts';
import { jsonBytes } from '../../shared/json-bytes.ts';
import type { Plan, SagaDefinition } from '../model/plan.ts';
import type { ToolManifest } from '../model/tool.ts';
import { endpointViolation } from '../tools/http-endpoint.ts';
import { nameViolations } from './declared-names.ts';
import { expressionProblem } from './expressions.ts';
import { NAME, planSchema } from './plan-shape.ts';
import { schemaProblem } from './schema-check.ts';
import { contradictions } from './tool-rules.ts';

const VERSION = /^[0-9A-Za-z][0-9A-Za-z.-]{0,31}$/;

/** An entry is one item of the table: 400 KB with its key. */
const MAX_ENTRY_BYTES = 400_000;

const schema = z.record(z.string(), z.unknown()).superRefine((value, context) => {
  const problem = schemaProblem(value);
  if (problem !== undefined) context.addIssue({ code: 'custom', message: `not a JSON Schema: ${problem}` });
});

const retry = z.strictObject({
  maxAttempts: z.int().min(1).max(20),
  backoffSeconds: z.number().min(0).max(HOUR_SECONDS),
  backoffRate: z.number().min(1).max(10),
  maxBackoffSeconds: z.number().min(0).max(HOUR_SECONDS),
});

const MAX_COMPENSATING_SECONDS = 7 * DAY_SECONDS;

/**
 * More attempts than this do not fit into one execution. A plan that wants more must set when its retries are
 * delayed and when they end.
 */
const MAX_PLAIN_ATTEMPTS = 20;

const compensationRetry = retry
  .extend({
    maxAttempts: z.int().min(1).max(1000),
    jitter: z.number().min(0).max(1).optional(),
    delayedAfterSeconds: z.int().min(0).max(HOUR_SECONDS).optional(),
    giveUpAfterSeconds: z.int().min(1).max(MAX_COMPENSATING_SECONDS).optional(),
  })
  .refine(
    ({ maxAttempts, delayedAfterSeconds, giveUpAfterSeconds }) =>
      maxAttempts <= MAX_PLAIN_ATTEMPTS ||
      (delayedAfterSeconds !== undefined && giveUpAfterSeconds !== undefined),
    { error: `more than ${MAX_PLAIN_ATTEMPTS} attempts need delayedAfterSeconds and giveUpAfterSeconds` },
  );

const timeoutSeconds = callSeconds();

/**
 * A text that can be parsed as JSONata and gives the same value each time. Whether it fits a result is only
 * known at run time.
 */
const expression = z
  .string()
  .min(1)
  .max(500)
  .superRefine((source, context) => {
    const problem = expressionProblem(source);
    if (problem !== undefined) context.addIssue({ code: 'custom', message: problem });
  });

/** Day of a review. It must exist: no 30 February. */
const day = z.iso.date({ error: 'must be a day, as "2027-05-31"' });

const toolSchema = z.strictObject({
  name: z.string().regex(NAME),
  version: z.string().regex(VERSION),
  description: z.string().max(500),
  reviewBy: day.optional(),
  effect: z.enum(['read', 'compensatable', 'partial', 'irreversible']),
  functionName: z.string().min(1).max(170),
  endpoint: z.string().optional(),
  timeoutSeconds,
  retry,
  idempotencyWindowSeconds: z
    .int()
    .min(0)
    .max(366 * DAY_SECONDS),
  replaysErrors: z.boolean(),
  probe: z.boolean(),
  compensation: z
    .strictObject({
      name: z.string().regex(NAME),
      timeoutSeconds,
      retry: compensationRetry,
      amount: expression.optional(),
      currency: expression.optional(),
    })
    .optional(),
  externalUrl: expression.optional(),
  resourceKey: z
    .string()
    .max(500)
    .superRefine((source, context) => {
      const problem = expressionProblem(source, { mayDiffer: true });
      if (problem !== undefined) context.addIssue({ code: 'custom', message: problem });
    })
    .optional(),
  exclusive: z.boolean().optional(),
  amount: expression.optional(),
  currency: expression.optional(),
  amountDirection: z.enum(AMOUNT_DIRECTIONS).optional(),
  minorUnits: z.boolean().optional(),
  schemas: z.strictObject({ input: schema, output: schema, compensation: schema.optional() }),
});

const definitionSchema = z.strictObject({
  name: z.string().regex(NAME),
  version: z.string().regex(VERSION),
  description: z.string().max(500),
  reviewBy: day,
  input: schema,
  plan: planSchema,
});

/** What to say about a tool that does not exist. */
export const unknownTool = (name: string, version?: string): string => {
  const wanted = version === undefined ? name : `${name}@${version}`;
  const [, bare, meant] = (version === undefined ? /^(.+)@(.+)$/.exec(name) : null) ?? [];
  const how =
    meant === undefined
      ? ''
      : `; its version is a member of its own: "tool": "${bare}", "version": "${meant}"`;
  return `the catalog has no tool ${wanted}${how}`;
};

/** The tool rules that an entry breaks, one sentence each (S8). */
export const toolViolations = (tool: ToolManifest): string[] => {
  const problems = contradictions(tool);
  if (tool.compensation !== undefined && tool.schemas.compensation === undefined) {
    problems.push('its manifest has no schema of what the compensator is given');
  }
  return problems.map((problem) => `tool ${tool.name}@${tool.version}: ${problem}`);
};

const parse = <Value>(shape: z.ZodType<Value>, value: unknown, what: string): Value => {
  const parsed = shape.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const where = issue === undefined || issue.path.length === 0 ? '' : ` at ${issue.path.join('.')}`;
  throw new WalkbackError('CatalogRefused', `${what}${where}: ${issue?.message ?? 'invalid'}`);
};

const requireSize = <Entry extends { name: string; version: string }>(entry: Entry, what: string): Entry => {
  const sizeBytes = jsonBytes(entry);
  if (sizeBytes <= MAX_ENTRY_BYTES) return entry;
  throw new WalkbackError(
    'CatalogRefused',
    `${what} ${entry.name}@${entry.version}: takes ${sizeBytes} bytes, and the catalog holds ${MAX_ENTRY_BYTES} of one; shorten its schemas or its plan`,
  );
};

const label = (value: unknown, what: string): string => {
  const name = typeof value === 'object' && value !== null && 'name' in value ? String(value.name) : '?';
  return `${what} ${name}`;
};

/** Checked only for what is newly stored, so that no tool in use is refused for it. */
const unnamed = (tool: ToolManifest): string | undefined => {
  const [problem] = nameViolations(tool);
  return problem === undefined ? undefined : `tool ${tool.name}@${tool.version}: ${problem}`;
};

/** Throws `CatalogRefused` naming the tool and the rule. */
export const parseTool = (value: unknown): ToolManifest => {
  const tool = parse(toolSchema, value, label(value, 'tool'));
  const problem = toolViolations(tool)[0] ?? endpointViolation(tool) ?? unnamed(tool);
  if (problem !== undefined) throw new WalkbackError('CatalogRefused', problem);
  return requireSize(tool, 'tool');
};

export const parseDefinition = (value: unknown): SagaDefinition =>
  requireSize(parse(definitionSchema, value, label(value, 'definition')), 'definition');

export const parsePlan = (value: unknown): Plan => {
  const parsed = planSchema.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const at = issue?.path ?? [];
  const step = at[0] === 'steps' && typeof at[1] === 'number' ? `step ${at[1]}` : 'plan';
  const where = at.length === 0 ? '' : `${at.join('.')} `;
  throw new WalkbackError('PlanRefused', `${step}: shape: ${where}${issue?.message ?? 'invalid'}`, {
    details: { violations: [{ step, rule: 'shape', message: issue?.message ?? 'invalid' }] },
  });
};

/** Days until the review date; negative when it is past. */
export const daysToReview = (reviewBy: string, today: Date): number => {
  const due = Date.parse(`${reviewBy}T23:59:59Z`);
  return Math.floor((due - today.getTime()) / DAY_MS);
};

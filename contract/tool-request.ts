/** The request of a saga to a tool, as JSON. */
import * as z from 'zod';
import { jsonObject, jsonValue } from './json.ts';

export const toolRequest = z.strictObject({
  operation: z.enum(['execute', 'probe', 'compensate']),
  tool: z.string(),
  version: z.string(),
  sagaId: z.string(),
  step: z.string(),
  attempt: z.int().min(1),
  idempotencyKey: z
    .string()
    .min(1)
    .max(255)
    .describe('of this operation: the forward key for execute and probe, the undo key for compensate'),
  forwardKey: z.string().min(1).max(255).describe('the key the forward call used'),
  deadlineMs: z.number().describe('Unix milliseconds; the tool does nothing after it (S3)'),
  arguments: jsonObject.describe('the forward arguments, also for a probe and a compensator'),
  result: jsonValue.optional().describe('what the forward call answered, when it is known'),
  externalRef: z.string().optional(),
  fencingToken: z
    .int()
    .optional()
    .describe('of the lock on an exclusive resource: a call with a lower one than was seen is late'),
});
export type ToolRequest = z.infer<typeof toolRequest>;

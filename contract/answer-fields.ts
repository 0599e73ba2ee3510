/** Fields that answers of several checkpoint functions have in common. */
import * as z from 'zod';

export const count = z.int().min(0);
export const cursor = z.string().optional().describe('hand it in for the next page; absent on the last');

/** Something a checkpoint does not hold, and why. */
export const uncaptured = () =>
  z.object({
    path: z.string().describe('relative to the projects root'),
    reason: z.string(),
    sizeBytes: count.optional(),
  });
export type Uncaptured = z.infer<ReturnType<typeof uncaptured>>;

export const lineCount = () => z.object({ added: count, deleted: count });
export type LineCount = z.infer<ReturnType<typeof lineCount>>;

/** A checkpoint of a session. */
export const pointOf = () => z.object({ sessionId: z.string(), checkpointId: z.string() });

/** What other processes wrote while a rollback was at work. */
export const lateWrites = () =>
  z.object({
    checkpointId: z
      .string()
      .describe('what was there before the rollback, with these files as they were written meanwhile'),
    files: z.array(z.string()).describe('relative to the projects root; the first ones'),
    filesNotListed: z.int().optional().describe('how many more of files there are'),
  });
export type LateWrites = z.infer<ReturnType<typeof lateWrites>>;

/** How a call that did not ask to roll back settled an abandoned rollback. */
export const settledRollback = () =>
  z.object({
    requestId: z.string(),
    outcome: z
      .enum(['closed', 'undone', 'given-up'])
      .describe('closed: it had written nothing; undone: put back; given-up: left as it stood'),
    targetCheckpointId: z.string().nullable(),
    undoCheckpointId: z.string().nullable().describe('what was there before it began'),
    foundCheckpointId: z.string().nullable().describe('what was there when it was settled'),
    kept: z.array(z.string()).describe('later work on what the rollback was to change; the first ones'),
    keptNotListed: z.int().optional().describe('how many more of kept there are'),
    by: z.string().describe('the call that settled it'),
    at: z.string(),
    message: z.string(),
    lateWrites: lateWrites().optional().describe('what other processes wrote while it was settled'),
  });
export type SettledRollback = z.infer<ReturnType<typeof settledRollback>>;

/** In the answer of the call that settled it. */
export const settledHere = () =>
  settledRollback()
    .optional()
    .describe('a rollback that nobody had finished, and what this call did about it');

/** What a step did elsewhere. */
export const effectFields = () => ({
  step: z.string(),
  tool: z.string(),
  externalRef: z.string().nullable(),
  externalUrl: externalUrl(),
  amount: z.string().optional().describe('what it moved: an exact decimal'),
  currency: z.string().optional(),
});

export const externalUrl = () =>
  z.string().optional().describe('where the provider shows the effect, an https address');

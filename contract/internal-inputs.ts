/** Inputs of the functions that only the construct's machine, rules and streams call. */
import * as z from 'zod';
import { id } from './fields.ts';
import { endpointProblem } from './http-endpoint.ts';
import { toolRequest } from './tool-request.ts';

/** The whole state of the machine, and the execution it runs in. */
export const advanceInput = () =>
  z.strictObject({
    state: z.looseObject({
      sagaId: z.string(),
      generation: z.int().min(1),
      action: z.string().optional(),
      operation: z
        .strictObject({
          effect: z.int(),
          direction: z.enum(['forward', 'probe', 'undo']),
          attempt: z.int(),
          probes: z.int(),
        })
        .optional(),
      outcome: z.unknown().optional(),
      /** What the alert topic answered. */
      alert: z.unknown().optional(),
    }),
    executionArn: z.string(),
  });
export type AdvanceInput = z.infer<ReturnType<typeof advanceInput>>;

export const announceAwaitInput = () =>
  z.strictObject({
    sagaId: id,
    generation: z.int().min(1),
    step: z.int().min(0),
    /** When the state was entered, and which attempt of it this is. */
    entered: z.iso.datetime(),
    retry: z.int().min(0),
    token: z.string().min(1).max(2048),
  });
export type AnnounceAwaitInput = z.infer<ReturnType<typeof announceAwaitInput>>;

/** Fields that EventBridge adds to scheduled events and to those of executions. We do not use them. */
const eventFields = () => ({
  version: z.string().optional(),
  id: z.string().optional(),
  'detail-type': z.string().optional(),
  source: z.string().optional(),
  account: z.string().optional(),
  time: z.string().optional(),
  region: z.string().optional(),
  resources: z.array(z.string()).optional(),
});

/** Called by the clock, or for a dead execution, whose input names the saga. */
export const sweepInput = () =>
  z.strictObject({
    sagaId: id.optional(),
    detail: z.looseObject({ input: z.string().nullish() }).optional(),
    ...eventFields(),
  });

export const anchorLedgerInput = () =>
  z.strictObject({ detail: z.looseObject({}).optional(), ...eventFields() });

export const anchorAnswer = () =>
  z.object({
    written: z.array(z.string()).describe('names of the digests that were written'),
    until: z.string().nullable().describe('everything before is anchored'),
  });
export type AnchorReport = z.infer<ReturnType<typeof anchorAnswer>>;

export const sweepAnswer = () =>
  z.object({
    looked: z.int(),
    resumed: z.array(z.string()),
    woken: z.array(z.string()),
    stuck: z.array(z.string()).describe('they die each time without progress, and are tried again later'),
    unalerted: z
      .array(z.string())
      .describe('they failed, and the alert topic has not taken their alert; it is sent again'),
    failed: z.array(z.string()).describe('they could not be looked at or started; the next sweep does'),
  });
export type SweepReport = z.infer<ReturnType<typeof sweepAnswer>>;

const endpoint = z.string().superRefine((value, context) => {
  const problem = endpointProblem(value);
  if (problem !== undefined) context.addIssue({ code: 'custom', message: problem });
});

export const httpToolInput = () => z.strictObject({ ...toolRequest.shape, endpoint });
export type HttpToolInput = z.infer<ReturnType<typeof httpToolInput>>;

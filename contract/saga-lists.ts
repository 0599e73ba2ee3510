/** The answers that list: sagas, their locks, and the versions of the catalog. */
import * as z from 'zod';
import { cursor } from './answer-fields.ts';
import { standingEffect } from './rollback-answers.ts';
import { sagaStatus, sagaSubject } from './saga-observation.ts';

const sagaSummary = () =>
  z.object({
    sagaId: z.string(),
    status: sagaStatus,
    definition: z.string().nullable(),
    started: z.int().describe('how many of its steps were started'),
    steps: z.int(),
    failure: z.string().nullable(),
    branchesFailed: z
      .int()
      .optional()
      .describe('branches of its steps that failed and were undone, while the step stands'),
    requestedBy: z.string(),
    createdAt: z.string(),
    updatedAt: z.string(),
    sessionId: z.string().optional().describe('the session it was started in'),
    messageId: z.string().optional().describe('the message of its start'),
    parent: z.string().optional().describe('the saga that runs it as a step'),
    subject: sagaSubject()
      .optional()
      .describe('with subject: what it is about; absent: it began nothing yet'),
  });
export type SagaSummary = z.infer<ReturnType<typeof sagaSummary>>;

/** What a saga did outside, for the message that it belongs to; also what was taken back. */
const sessionEffect = () =>
  z.object({
    ...standingEffect().shape,
    stands: z.boolean().describe('false: taken back, or it never happened'),
    rejected: z.literal(true).optional().describe('it never happened: the provider refused it'),
    residue: z.string().optional().describe('taken back in part: what stays'),
  });
export type SessionEffect = z.infer<ReturnType<typeof sessionEffect>>;

export const sagasAnswer = () =>
  z.object({
    sagas: z.array(sagaSummary()),
    cursor,
    effects: z
      .array(sessionEffect())
      .optional()
      .describe('with sessionId: effects of these sagas that belong to the session, or to messageId'),
  });
export type SagasAnswer = z.infer<ReturnType<typeof sagasAnswer>>;

const storedVersion = () =>
  z.object({
    kind: z.enum(['tool', 'definition']),
    name: z.string(),
    version: z.string(),
    stored: z.boolean().describe('false when exactly this was stored before'),
  });
export type StoredVersion = z.infer<ReturnType<typeof storedVersion>>;

export const catalogStored = () =>
  z.object({
    versions: z.array(storedVersion()),
    warnings: z
      .array(z.string())
      .describe(
        'what is stored and will not work yet: a function that is missing, not named to the stack, or too short-lived',
      ),
  });
export type CatalogStored = z.infer<ReturnType<typeof catalogStored>>;

export const locksAnswer = () =>
  z.object({
    locks: z
      .array(
        z.object({
          sagaId: z.string().describe('the root saga that holds it'),
          status: sagaStatus,
          resourceKey: z.string(),
          since: z.string(),
          fencingToken: z.int(),
          waiting: z.array(z.string()).describe('sagas in line, first in line first; at most 20'),
        }),
      )
      .describe('at most 500'),
    cursor,
  });
export type LocksAnswer = z.infer<ReturnType<typeof locksAnswer>>;

export const catalogAnswer = () =>
  z.object({
    tools: z.array(
      z.object({
        name: z.string(),
        version: z.string(),
        effect: z.enum(['read', 'compensatable', 'partial', 'irreversible']),
        description: z.string(),
        functionName: z.string(),
        endpoint: z.string().nullable().describe('of an HTTP tool; its function only passes calls on'),
        compensator: z.string().nullable(),
        probe: z.boolean(),
        reviewBy: z.string().optional().describe('missing when its declaration has no date'),
        daysToReview: z.int().optional().describe('negative when the date is past'),
      }),
    ),
    definitions: z.array(
      z.object({
        name: z.string(),
        version: z.string(),
        description: z.string(),
        steps: z.array(z.string()),
        reviewBy: z.string(),
        daysToReview: z.int(),
      }),
    ),
  });
export type CatalogAnswer = z.infer<ReturnType<typeof catalogAnswer>>;

/**
 * The `detail` of every event: the part that subscribers of the bus may rely on. test/infra/events.test.ts
 * checks real events against it.
 */
import * as z from 'zod';
import { SAGA_STATUSES } from './saga-observation.ts';

const id = z.string();
const sagaDetail = z.object({
  eventId: z.string().describe('The same on every delivery: what a subscriber deduplicates by'),
  sagaId: id,
  status: z.enum(SAGA_STATUSES),
  requestedBy: z.string(),
  definition: z.string().optional(),
  sessionId: id.optional(),
  failure: z.looseObject({}).optional(),
});

const reference = z.object({
  step: z.string(),
  tool: z.string(),
  externalRef: z.string().nullable(),
  externalUrl: z.string().optional().describe('Where the provider shows it, an https address'),
  sagaId: z.string().optional().describe('Of a saga below this one: what it is worked under'),
  resourceKey: z.string().optional(),
  idempotencyKey: z.string().optional(),
  amount: z.string().optional(),
  currency: z.string().optional(),
});

/** For people: a rule can send it on as it is. It has no arguments and no results. */
const notice = z.object({
  kind: z.enum(['approval_waiting', 'compensation_failed']),
  subject: z.string(),
  text: z.string().describe('Plain text of some lines'),
  link: z.string().nullable().describe('Of the console; null when the deployment does not know it'),
  requestedBy: z.string(),
  step: z.string().optional(),
  tool: z.string().optional(),
  deadline: z.string().optional(),
  argumentsHash: z.string().optional(),
  amount: z.string().optional().describe('An exact decimal: what it would move, or what still stands'),
  currency: z.string().optional(),
  references: z.array(reference).describe('Of what stands: at most 50'),
  more: z.int().describe('References that did not fit'),
});
export type SagaNotice = z.infer<typeof notice>;

const sessionDetail = z.object({ eventId: z.string(), sessionId: id });
const rollbackDetail = sessionDetail.extend({
  requestId: id,
  epoch: z.int(),
  sandboxId: z.string(),
  detached: z.boolean().optional(),
  by: z.string().optional().describe('Who asked for it; a claim when byVerified is absent'),
  byVerified: z.literal(true).optional(),
});

export const EVENT_DETAILS = {
  'session.started': sessionDetail.extend({
    epoch: z.int(),
    sandboxId: z.string(),
    projectsRoot: z.string(),
  }),
  'session.ended': sessionDetail.extend({ epoch: z.int(), expiresAt: z.int() }),
  'session.aborted': sessionDetail.extend({
    epoch: z.int(),
    previousEpoch: z.int(),
    sandboxId: z.string().describe('Where the work of the older epoch runs'),
    requestId: id.optional(),
  }),
  'session.rehydrated': sessionDetail.extend({
    requestId: id,
    mode: z.enum(['review', 'resume']),
    sandboxId: z.string().optional(),
    checkpointId: id.optional(),
    epoch: z.int().optional(),
  }),
  'checkpoint.created': sessionDetail.extend({
    checkpointId: id,
    seq: z.int(),
    epoch: z.int(),
    messageId: id.nullable(),
    toolExecutionId: id.optional(),
    reason: z.string(),
    complete: z.boolean().describe('False: the checkpoint names what it misses'),
    detached: z.boolean().optional(),
    changedRepositories: z.array(z.string()),
  }),
  'rollback.completed': rollbackDetail.extend({
    checkpointId: id.optional(),
    undoCheckpointId: id.optional(),
    discardedMessageIds: z.array(id).optional(),
    trimAfterMessageId: id.nullish(),
  }),
  'rollback.failed': rollbackDetail.extend({ error: z.unknown().optional() }),
  'saga.started': sagaDetail,
  'saga.awaiting': sagaDetail.extend({ notice: notice.optional() }),
  'saga.compensating': sagaDetail,
  'saga.completed': sagaDetail,
  'saga.compensated': sagaDetail.extend({
    secondsToReconcile: z.int().optional().describe('Since its undo had failed'),
  }),
  'saga.compensation_delayed': sagaDetail.extend({
    code: z.literal('COMPENSATION_DELAYED'),
    delayed: z.int().describe('Compensators that did not work yet and are tried again'),
  }),
  'saga.compensation_failed': sagaDetail.extend({ notice: notice.optional() }),
} as const satisfies Record<string, z.ZodObject>;

export type EventName = keyof typeof EVENT_DETAILS;

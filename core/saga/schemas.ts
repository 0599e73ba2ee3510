/** What each function of sagas accepts: strict, an unknown field is refused, and the message names it. */
import * as z from 'zod';
import { ID_PATTERN } from '../shared/ids.ts';
import { SAGA_STATUSES } from './model.ts';
import { jsonValue } from './plan/json-value.ts';

const id = z
  .string()
  .regex(
    ID_PATTERN,
    'must be 1 to 64 of the characters A-Z a-z 0-9 _ . : - and begin with a letter or a digit',
  );
const stepId = z.string().min(1).max(64);
const who = z.string().trim().min(1).max(200);
const words = z.string().max(2000);
const day = z.iso.date();
const limit = z.int().min(1).max(1000);
const cursor = z.string().max(2000);

export const startSagaInput = z.strictObject({
  sagaId: id.optional(),
  definition: z.strictObject({ name: z.string(), version: z.string().optional() }).optional(),
  /** Checked by the plan's own rules, which name step and rule. */
  plan: z.unknown().optional(),
  input: jsonValue,
  sessionId: id.optional(),
  requestedBy: who,
});
export type StartSagaInput = z.infer<typeof startSagaInput>;

export const describeSagaInput = z.strictObject({
  sagaId: id,
  waitSeconds: z.number().min(0).max(600).optional(),
});
export type DescribeSagaInput = z.infer<typeof describeSagaInput>;

export const answerInput = z.strictObject({
  sagaId: id,
  stepId,
  decision: z.enum(['approve', 'reject']),
  by: who,
  note: words.optional(),
});
export type AnswerInput = z.infer<typeof answerInput>;

export const operateSagaInput = z.strictObject({
  sagaId: id,
  action: z.enum(['cancel', 'retry', 'resolve', 'skip']),
  stepId: stepId.optional(),
  by: who,
  evidence: words.optional(),
});
export type OperateSagaInput = z.infer<typeof operateSagaInput>;

export const queryLedgerInput = z.strictObject({
  sagaId: id.optional(),
  status: z.string().max(50).optional(),
  externalRef: z.string().min(1).max(500).optional(),
  day: day.optional(),
  format: z.enum(['json', 'csv']).optional(),
  /** With `sagaId` or `day`: also what is stored beside the entries, for verifying. */
  evidence: z.boolean().optional(),
  limit: limit.optional(),
  cursor: cursor.optional(),
});
export type QueryLedgerInput = z.infer<typeof queryLedgerInput>;

export const putCatalogInput = z.strictObject({
  tools: z.array(z.unknown()).max(100),
  definitions: z.array(z.unknown()).max(100),
});
export type PutCatalogInput = z.infer<typeof putCatalogInput>;

export const listSagasInput = z.strictObject({
  status: z.enum(SAGA_STATUSES).optional(),
  limit: limit.optional(),
  cursor: cursor.optional(),
});
export type ListSagasInput = z.infer<typeof listSagasInput>;

export const listCatalogInput = z.strictObject({});

export const announceAwaitInput = z.strictObject({
  sagaId: id,
  generation: z.int().min(1),
  step: z.int().min(0),
  token: z.string().min(1).max(2048),
});

/** By the clock: nothing of interest. By a dead execution: its input names the saga. Fields are EventBridge's. */
export const sweepInput = z.strictObject({
  sagaId: id.optional(),
  detail: z.looseObject({ input: z.string().nullish() }).optional(),
  version: z.string().optional(),
  id: z.string().optional(),
  'detail-type': z.string().optional(),
  source: z.string().optional(),
  account: z.string().optional(),
  time: z.string().optional(),
  region: z.string().optional(),
  resources: z.array(z.string()).optional(),
});

/** What a query of the ledger answers: entries, effects and their sums, evidence, and digests. */
import * as z from 'zod';
import { AMOUNT_DIRECTIONS } from './amount-direction.ts';
import { cursor } from './answer-fields.ts';
import { ledgerEffect, ledgerTotals } from './ledger-answers.ts';

/** A ledger entry as the columns people query (docs/sagas.md, Data). */
const ledgerRow = () =>
  z.object({
    saga_id: z.string(),
    seq: z.int(),
    step_index: z.int().nullable(),
    step: z.string().nullable(),
    tool: z.string().nullable(),
    direction: z.string(),
    status: z.string(),
    idempotency_key: z.string().nullable(),
    external_ref: z.string().nullable(),
    attempt: z.int().nullable(),
    error: z.string().nullable().describe('<name>: <message>'),
    actor: z.string(),
    at: z.string(),
    prev_hash: z.string(),
    hash: z.string(),
    detail: z.string().describe('everything else of the entry, as JSON'),
    amount: z
      .string()
      .nullable()
      .describe('what an effect moved, or its compensator took back: an exact decimal'),
    currency: z.string().nullable(),
    amount_direction: z
      .enum(AMOUNT_DIRECTIONS)
      .nullable()
      .describe('which way that money went; null: without an amount'),
    external_url: z.string().nullable().describe('where the provider shows the effect: https'),
    proof: z
      .string()
      .nullable()
      .describe(
        'how actor is proven: issuer and subject of a verified token, or claimed; null: Walkback itself',
      ),
  });
export type LedgerRow = z.infer<ReturnType<typeof ledgerRow>>;

/** A digest as it is stored (docs/sagas.md, Anchors). */
const storedAnchor = () =>
  z.object({
    name: z.string(),
    text: z.string().optional().describe('absent when it was deleted'),
    versions: z.int().describe('1, unless somebody changed what nobody may change'),
  });
export type StoredAnchor = z.infer<ReturnType<typeof storedAnchor>>;

const anchorsOfDay = () =>
  z.object({
    day: z.string(),
    anchors: z.array(storedAnchor()),
    before: storedAnchor().optional().describe('the last digest of the days before'),
    firstDay: z.string().nullable(),
    publicKey: z.string().describe('PEM of the key that signs now'),
  });
export type AnchorsAnswer = z.infer<ReturnType<typeof anchorsOfDay>>;

export const ledgerAnswer = () =>
  z.object({
    entries: z.array(ledgerRow()).optional().describe('oldest first'),
    effects: z.array(ledgerEffect()).optional().describe('in the order in which they were committed'),
    totals: ledgerTotals()
      .optional()
      .describe('of what this page read; add those of the pages that follow with `cursor`'),
    csv: z.string().optional(),
    cursor,
    below: z
      .array(z.string())
      .optional()
      .describe(
        'for effects and totals of one saga, with the last page: the sagas that it runs as steps. What they did is not in this answer: ask for each',
      ),
    tip: z
      .object({ seq: z.int(), hash: z.string() })
      .optional()
      .describe('for one saga: where its chain ends, to verify that nothing was cut off'),
    evidence: z
      .object({
        // As it is stored. Its shape may change.
        head: z.unknown().optional().describe('the head of a saga, with its last page; null when it is gone'),
        findings: z
          .array(z.object({ sagaId: z.string(), where: z.string(), message: z.string() }))
          .describe('what is not as it was written'),
      })
      .optional(),
    anchors: anchorsOfDay().optional().describe('the digests of the day that `anchorsOf` named'),
  });
export type LedgerAnswer = z.infer<ReturnType<typeof ledgerAnswer>>;

/** What finance reads of the ledger: every effect with its undo, and their sums. */
import * as z from 'zod';
import { AMOUNT_DIRECTIONS } from './amount-direction.ts';

/**
 * `undoing`: its compensator was begun, or is delayed. `resolved`, `skipped`: by an operator. `accepted`: an
 * undo or a rewind was allowed to leave it. `in_doubt`: it may have taken effect, and nothing takes it back.
 */
export const EFFECT_STATUSES = [
  'stands',
  'undoing',
  'undone',
  'undo_failed',
  'resolved',
  'skipped',
  'accepted',
  'in_doubt',
] as const;

/**
 * Of entries, for whoever asks for those of one. Entries of days are outcomes: `submitted` is none, and of what was `started` only
 * sagas are.
 */
export const ENTRY_STATUSES = [
  'absent',
  'approved',
  'blocked',
  'broken',
  'cancel_requested',
  'committed',
  'compensated',
  'compensation_failed',
  'completed',
  'declined',
  'delayed',
  'delivered',
  'ended',
  'expired',
  'failed',
  'idle',
  'overdue',
  'parked',
  'paused',
  'queued',
  'refused',
  'rejected',
  'requested',
  'resolved',
  'resumed',
  'retried',
  'rewind_requested',
  'rewound',
  'sealed',
  'settled',
  'skipped',
  'started',
  'step_settled',
  'taken',
  'undo_requested',
  'unknown',
  'unparked',
  'unwind_requested',
  'unwinding',
  'waiting',
] as const;

const amount = z.string().nullable().describe('an exact decimal');

/** An effect and what became of it, from the entries of its saga (docs/sagas.md, Finance). */
export const ledgerEffect = () =>
  z.object({
    saga_id: z.string(),
    step_index: z.int(),
    epoch: z.int(),
    step: z.string(),
    tool: z.string(),
    version: z.string(),
    agent: z.string().describe('who started the saga, or the saga above it'),
    resource_key: z.string().nullable().describe('the resource that the call changed, such as a customer'),
    external_ref: z.string().nullable(),
    status: z.enum(EFFECT_STATUSES),
    amount,
    currency: z.string().nullable(),
    amount_direction: z
      .enum(AMOUNT_DIRECTIONS)
      .nullable()
      .describe('which way its money went, as its tool declares; an undo goes the other way'),
    amount_problem: z.string().nullable().describe('why there is no amount, although the tool declares one'),
    committed_at: z.string().describe('for an effect in doubt: the time of its call'),
    committed_seq: z.int().describe('the number of its ledger entry'),
    undone_at: z.string().nullable().describe('when it was undone, resolved, skipped or accepted'),
    undone_seq: z.int().nullable(),
    undone_by: z.string().nullable(),
    undone_by_proof: z
      .string()
      .nullable()
      .describe(
        'how undone_by is proven: issuer and subject of a verified token, or claimed; null: Walkback itself',
      ),
    undone_ref: z.string().nullable(),
    undone_amount: amount.describe('what was taken back: it may be less'),
    undone_currency: z.string().nullable(),
    undone_problem: z.string().nullable(),
    residue: z.string().nullable(),
    failed_at: z.string().nullable().describe('when its undo first failed or was blocked'),
    error: z.string().nullable().describe('the error of the last undo that did not work'),
    evidence: z
      .string()
      .nullable()
      .describe('the evidence of the operator, or the reason why the effect may stay'),
    doubt: z
      .string()
      .nullable()
      .describe(
        'why it is not known whether it took effect; then neither its amount nor that of its undo is known; null: it took effect',
      ),
    external_url: z.string().nullable().describe('where the provider shows it: https'),
  });
export type LedgerEffect = z.infer<ReturnType<typeof ledgerEffect>>;

const moved = () =>
  z.object({
    amount: z.string().describe('what the effects moved: an exact decimal'),
    undone: z.string().describe('what compensators took back'),
    byHand: z
      .string()
      .describe(
        'what the effects moved that were undone by hand; only the evidence says how much of it was taken back',
      ),
  });

const total = () =>
  z.object({
    key: z.string().nullable().describe('the tool, agent, day or status; null for all'),
    currency: z.string().nullable().describe('null: effects without an amount'),
    effects: z.int(),
    undoneEffects: z.int(),
    byHandEffects: z
      .int()
      .describe('undone by hand: `resolved` by an operator, with evidence; not in `undone`'),
    in: moved().describe('of tools whose amount is `in`, such as a charge'),
    out: moved().describe('of tools whose amount is `out`, such as a refund'),
    neither: moved().describe('of tools whose amount is only booked or reserved; not in `net`'),
    net: z
      .string()
      .describe('`in` less `out`, each without what was taken back; what was undone by hand is still in it'),
  });
export type LedgerTotal = z.infer<ReturnType<typeof total>>;

const reconciliation = () =>
  z.object({
    sagaId: z.string(),
    failedAt: z.string().describe('when it became COMPENSATION_FAILED'),
    reconciledAt: z.string().nullable().describe('when nothing was left; null: it is open'),
    seconds: z.int().nullable(),
  });
export type Reconciliation = z.infer<ReturnType<typeof reconciliation>>;

export const ledgerTotals = () =>
  z.object({
    all: z.array(total()),
    byTool: z.array(total()),
    byAgent: z.array(total()),
    byDay: z
      .array(total())
      .describe(
        'by the day on which the effect was committed, also when it was undone later; with undoneFrom or undoneTo by the day of the undo',
      ),
    byStatus: z.array(total()).describe('what stands, is in doubt, is open or was undone'),
    reconciliations: z
      .array(reconciliation())
      .describe(
        'for the sagas of these effects whose undo had failed; without filters, also for the sagas that failed in these days',
      ),
    secondsToReconcile: z.int().nullable().describe('the mean of those that are reconciled'),
  });
export type LedgerTotals = z.infer<ReturnType<typeof ledgerTotals>>;

/** Its compensator took back a part, and said what stays. */
export const isUndoneInPart = ({ status, residue }: LedgerEffect): boolean =>
  status === 'undone' && typeof residue === 'string';

/** A person decided that it may stay. `undone_by` says who, and `evidence` why. */
export const isLetStand = ({ status }: LedgerEffect): boolean =>
  status === 'skipped' || status === 'accepted';

/** An effect that a person let stand has the time of that there, and stands. */
export const undoneAt = (row: LedgerEffect): string | null => (isLetStand(row) ? null : row.undone_at);

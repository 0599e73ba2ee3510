/**
 * Schemas of ledger entries, one for each kind of fact. The compiler reports a kind or a member that is
 * missing here. Unknown members are kept, because the hash covers them.
 */
import * as z from 'zod';
import { AMOUNT_DIRECTIONS } from '../../../contract/amount-direction.ts';
import type { Json, JsonObject } from '../../../contract/json.ts';
import { SAGA_STATUSES } from '../../../contract/saga-observation.ts';
import type { Fact, LedgerEntry } from '../../../core/saga/model/ledger-entry.ts';

type NameOf<F> = F extends { direction: infer D extends string; status: infer S extends string }
  ? `${D} ${S}`
  : never;
type FactNamed<N, F = Fact> = F extends { direction: infer D extends string; status: infer S extends string }
  ? N extends `${D} ${S}`
    ? Omit<F, 'direction' | 'status'>
    : never
  : never;
type Kind = NameOf<Fact>;

const count = z.int().min(0);
const text = z.string();
export const json = z.custom<Json>((value) => value !== undefined, 'missing');
export const jsonObject = z.custom<JsonObject>(
  (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
  'not an object',
);
export const namedError = z.looseObject({ name: text, message: text });
export const EFFECT_KINDS = ['read', 'compensatable', 'partial', 'irreversible'] as const;

export const failure = z.looseObject({
  step: text.nullable(),
  tool: text.nullable(),
  error: namedError,
  outcome: z.enum(['rejected', 'unknown', 'cancelled']),
});

export const interactive = z.looseObject({
  idleTimeoutSeconds: z.number(),
  onIdle: z.enum(['unwind', 'ask']),
  approvalTimeoutSeconds: z.number(),
  allowIrreversible: z.array(text).optional(),
  single: z.literal(true).optional(),
});

const plain = z.looseObject({});
const step = z.looseObject({ stepIndex: count, step: text, tool: text, version: text, epoch: count });
const attempt = step.extend({ attempt: count, idempotencyKey: text });
const refused = { reached: z.literal(false).optional(), retryAfterSeconds: z.number().optional() };
const unheard = { callerLost: z.literal(true).optional() };
const priced = {
  amount: text.optional(),
  currency: text.optional(),
  amountDirection: z.enum(AMOUNT_DIRECTIONS).optional(),
  amountProblem: namedError.optional(),
};
const committed = attempt.extend({
  ...priced,
  externalUrl: text.optional(),
  externalUrlProblem: namedError.optional(),
  result: json,
  externalRef: text.optional(),
  error: namedError.optional(),
});
const noted = step.extend({ note: text.optional() });
const undoFailed = attempt.extend({ error: namedError, ...refused, ...unheard });
const probed = attempt.extend({ error: namedError.optional(), ...refused, ...unheard });
const byOperator = step.extend({ evidence: text.optional() });

export const entryLink = z.looseObject({ sagaId: text, seq: count, hash: text });
export const pinnedOutput = z.looseObject({ value: json, uses: z.array(count) });
const namedChild = z.looseObject({
  branch: text,
  sagaId: text,
  planHash: text,
  inputHash: text,
  stepCount: count,
  definition: text.optional(),
  output: pinnedOutput.optional(),
  interactive: interactive.optional(),
});
const childEnd = z.looseObject({
  index: count,
  branch: text,
  sagaId: text,
  status: z.enum([...SAGA_STATUSES, 'REFUSED']),
  seq: count,
  tip: text,
  error: namedError.optional(),
  resources: z.record(text, z.number()).optional(),
});

/** Each schema is made with the first entry of its kind, because one call reads entries of only a few kinds. */
const FACTS: { [K in Kind]: () => z.ZodType<FactNamed<K>> } = {
  'saga started': () =>
    z.looseObject({
      planHash: text,
      inputHash: text,
      stepCount: count,
      definition: text.optional(),
      requestHash: text,
      sessionId: text.optional(),
      messageId: text.optional(),
      interactive: interactive.optional(),
      inline: z.literal(true).optional(),
      parent: entryLink.optional(),
      root: text.optional(),
      output: pinnedOutput.optional(),
      project: text.optional(),
      maxConcurrent: count.optional(),
      locks: z.array(z.looseObject({ stepIndex: count, resourceKey: text })).optional(),
    }),
  'saga resumed': () => z.looseObject({ generation: count, reason: text }),
  'saga undo_requested': () =>
    z.looseObject({
      acceptResidue: z.literal(true).optional(),
      evidence: text.optional(),
    }),
  'saga rewind_requested': () =>
    z.looseObject({
      requestId: text,
      requestHash: text,
      after: text.nullable(),
      floor: count,
      cursor: count,
      guidance: text.optional(),
      acceptResidue: z.literal(true).optional(),
      reason: text.optional(),
      plan: z.looseObject({ planHash: text, stepCount: count, replaces: text }).optional(),
    }),
  'saga rewound': () => z.looseObject({ epoch: count }),
  'saga cancel_requested': () => z.looseObject({ evidence: text.optional(), parent: entryLink.optional() }),
  'saga unwind_requested': () => z.looseObject({ parent: entryLink }),
  'saga sealed': () => z.looseObject({ root: entryLink }),
  'saga paused': () => z.looseObject({ untilMs: z.number(), reason: text }),
  'saga unwinding': () => z.looseObject({ failure }),
  'saga completed': () => z.looseObject({ reason: text.optional(), output: json.optional() }),
  'saga parked': () =>
    z.looseObject({
      summary: text,
      sessionId: text.optional(),
      checkpointId: text.optional(),
      requestId: text.optional(),
    }),
  'saga unparked': () => z.looseObject({ sessionId: text.optional() }),
  'saga idle': () => z.looseObject({ untilMs: z.number() }),
  'saga step_settled': () => z.looseObject({ effect: count }),
  'step submitted': () =>
    step.extend({
      planHash: text,
      requestHash: text,
      generation: count,
      sessionId: text.optional(),
      messageId: text.optional(),
    }),
  'step refused': () => step.extend({ error: namedError }),
  'step unwinding': () => step.extend({ effect: count, error: namedError }),
  'saga compensated': () => plain,
  'saga compensation_failed': () => plain,
  'approval requested': () =>
    step.extend({
      untilMs: z.number(),
      prompt: text.optional(),
      arguments: jsonObject,
      argumentsHash: text,
      amount: text.optional(),
      currency: text.optional(),
    }),
  'approval approved': () => noted,
  'approval declined': () => noted,
  'approval expired': () => noted,
  'forward started': () =>
    attempt.extend({
      effect: z.enum(EFFECT_KINDS),
      deadlineMs: z.number(),
      argumentsHash: text,
      arguments: jsonObject.optional(),
      resourceKey: text.optional(),
      keyExpiresMs: z.number().optional(),
      planHash: text.optional(),
      children: z.array(namedChild).optional(),
      fencingToken: count.optional(),
    }),
  'forward committed': () => committed,
  'forward rejected': () => attempt.extend({ error: namedError, final: z.boolean(), ...refused }),
  'forward unknown': () =>
    attempt.extend({
      error: namedError,
      answered: z.boolean(),
      ...unheard,
      externalRef: text.optional(),
    }),
  'probe started': () => attempt.extend({ deadlineMs: z.number() }),
  'probe committed': () => committed,
  'probe absent': () => probed,
  'probe unknown': () => probed,
  'undo started': () =>
    attempt.extend({
      deadlineMs: z.number(),
      resourceKey: text.nullish(),
      children: count.optional(),
    }),
  'undo committed': () =>
    attempt.extend({ ...priced, externalRef: text.optional(), residue: text.optional() }),
  'undo rejected': () => undoFailed,
  'undo unknown': () => undoFailed,
  'undo delayed': () =>
    step.extend({
      error: namedError,
      attempts: count,
      unreached: count,
      sinceMs: z.number(),
      untilMs: z.number(),
    }),
  'undo failed': () => step.extend({ error: namedError }),
  'undo blocked': () => step.extend({ error: namedError, resourceKey: text.nullable() }),
  'child ended': () => step.extend({ child: childEnd }),
  'child overdue': () => step,
  'child unwinding': () => step.extend({ children: z.array(count), reason: text }),
  'child settled': () => step.extend({ child: childEnd }),
  'lock taken': () => step.extend({ semaphore: text, resourceKey: text, fencingToken: count }),
  'lock waiting': () =>
    step.extend({
      semaphores: z.array(text),
      resourceKey: text,
      behind: text,
      since: text,
      untilMs: z.number().nullable(),
    }),
  'lock broken': () => z.looseObject({ semaphore: text, resourceKey: text, evidence: text }),
  'slot taken': () => z.looseObject({ semaphore: text, number: count, fencingToken: count }),
  'slot queued': () => z.looseObject({ semaphore: text }),
  'alert delivered': () => z.looseObject({ messageId: text.optional() }),
  'alert refused': () => z.looseObject({ error: namedError }),
  'operator retried': () => byOperator,
  'operator resolved': () => byOperator,
  'operator skipped': () => byOperator,
};

const KINDS = new Map<string, () => z.ZodType>(Object.entries(FACTS));
const made = new Map<string, z.ZodType>();

const schemaOf = (kind: string): z.ZodType | undefined => {
  const schema = made.get(kind) ?? KINDS.get(kind)?.();
  if (schema !== undefined) made.set(kind, schema);
  return schema;
};

const person = z.looseObject({
  iss: text,
  sub: text,
  email: text.optional(),
  authTime: text.optional(),
  tokenId: text.optional(),
  dev: z.literal(true).optional(),
});

const placed = z
  .looseObject({
    sagaId: text,
    // A negative number was written by somebody else. The chain shows that we never wrote it.
    seq: z.int(),
    at: text,
    actor: text,
    person: person.optional(),
    prevHash: text,
    hash: text,
    direction: text,
    status: text,
  })
  .refine(({ direction, status }) => KINDS.has(`${direction} ${status}`), { path: ['status'] });

/** Throws a `ZodError` when this release writes no such entry. */
export const checkedEntry = (value: unknown): LedgerEntry => {
  const { direction, status } = placed.parse(value);
  schemaOf(`${direction} ${status}`)?.parse(value);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the schemas have seen it
  return value as LedgerEntry;
};

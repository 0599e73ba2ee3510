/**
 * The answers of the saga functions. Answers are extended, never changed: a caller ignores fields that it
 * does not know.
 */
import * as z from 'zod';
import { AMOUNT_DIRECTIONS } from './amount-direction.ts';
import { cursor, effectFields, externalUrl } from './answer-fields.ts';
import { personAnswer } from './identity.ts';
import { jsonObject, jsonValue } from './json.ts';
import { ledgerEffect, ledgerTotals } from './ledger-answers.ts';
import { standingEffect } from './rollback-answers.ts';

export const SAGA_STATUSES = [
  'QUEUED',
  'RUNNING',
  'AWAITING',
  'PARKED',
  'COMPENSATING',
  'PAUSED',
  'COMPLETED',
  'COMPENSATED',
  'COMPENSATION_FAILED',
] as const;
export type SagaStatus = (typeof SAGA_STATUSES)[number];

const status = z.enum(SAGA_STATUSES);

const movedSaga = () => z.object({ sagaId: z.string(), status });

const parkedSaga = () =>
  z.object({
    ...movedSaga().shape,
    error: z.object({ name: z.string(), message: z.string() }).optional().describe('why it is not parked'),
  });
export type ParkedSaga = z.infer<ReturnType<typeof parkedSaga>>;

export const parkedSagas = () =>
  z.object({
    sagaId: z.string().optional().describe('the one that was named'),
    status: status.optional(),
    sagas: z.array(parkedSaga()),
    checkpointId: z.string().optional().describe('where the files are'),
    warnings: z.array(z.string()),
  });
export type ParkedSagas = z.infer<ReturnType<typeof parkedSagas>>;

const planNotListed = () =>
  z
    .int()
    .optional()
    .describe('in the rewind of a session: how many more there are, for which the answer has no room');

const standingStep = () =>
  z.object({
    ...observedStep().shape,
    reason: z.string(),
    sagaId: z.string().optional().describe('for a step of a saga below: which saga'),
  });

/** What an undo or a rewind takes back, and what it cannot. */
export const undoPlan = () =>
  z.object({
    undo: z
      .array(
        z.object({
          ...observedStep().shape,
          children: z
            .boolean()
            .optional()
            .describe('it runs sagas; what they did follows, named with the steps above: `refund/mail`'),
          sagaId: z.string().optional().describe('for a step of a saga below: which saga'),
          partly: z.boolean().optional().describe('its compensator, or one below, takes back only a part'),
          unsure: z.boolean().optional().describe('it may not have happened'),
        }),
      )
      .describe('in the order in which they are taken back'),
    undoNotListed: planNotListed(),
    stands: z.array(standingStep()).describe('what nothing takes back'),
    standsNotListed: planNotListed(),
    letStand: z
      .array(standingStep())
      .optional()
      .describe('what a person let stand before; it stays, and nobody is asked about it again'),
    letStandNotListed: planNotListed(),
  });
export type UndoPlan = z.infer<ReturnType<typeof undoPlan>>;

export const plannedResidue = () =>
  z
    .string()
    .optional()
    .describe('in a plan: what nothing takes back, as one text; who lets it stand hands it in');

/** For answers about what is recorded. */
export const toldWarnings = () =>
  z
    .array(z.string())
    .optional()
    .describe('what is recorded, but goes on later: the machine could not be told at once; absent: none');

export const closedSaga = () => z.object({ ...movedSaga().shape, warnings: toldWarnings() });
export type ClosedSaga = z.infer<ReturnType<typeof closedSaga>>;

export const operatedSaga = () =>
  z.object({
    ...movedSaga().shape,
    plan: undoPlan().optional().describe('the plan of an undo'),
    residue: plannedResidue(),
    warnings: toldWarnings(),
  });
export type OperatedSaga = z.infer<ReturnType<typeof operatedSaga>>;

/** An answer to an approval. The first one counts. */
export const answeredSaga = () =>
  z.object({
    sagaId: z.string(),
    status,
    answered: z
      .object({
        decision: z.enum(['approve', 'reject']),
        by: z.string(),
        at: z.string(),
        person: personAnswer().optional().describe('absent: `by` is a claim'),
      })
      .describe('the answer that counts: who gave it first, and when'),
    warnings: toldWarnings(),
  });
export type AnsweredSaga = z.infer<ReturnType<typeof answeredSaga>>;

export const startedSaga = () => z.object({ ...movedSaga().shape, warnings: z.array(z.string()) });

const observedStep = () =>
  z.object({
    ...effectFields(),
    epoch: z.int().optional().describe('from the first rewind on: how many came before this step'),
  });
export type ObservedStep = z.infer<ReturnType<typeof observedStep>>;

const awaitedApproval = () =>
  z.object({
    kind: z.literal('approval'),
    step: z.string(),
    tool: z.string(),
    version: z.string(),
    arguments: jsonObject.describe('what the tool will be called with once it is approved'),
    argumentsHash: z.string().describe('what the call is compared with'),
    amount: z.string().optional().describe('what it would move, when its arguments alone say it: a decimal'),
    currency: z.string().optional(),
    epoch: z.int().optional().describe('for a saga that was rewound: give it with the answer'),
    until: z.string(),
    prompt: z.string().optional(),
    promptBy: z
      .enum(['template', 'agent'])
      .optional()
      .describe('who wrote the prompt: a reviewed template, or the agent. Believe the arguments'),
  });
export type AwaitedApproval = z.infer<ReturnType<typeof awaitedApproval>>;

const namedError = () => z.object({ name: z.string(), message: z.string() });

const doing = () =>
  z.object({
    what: z
      .enum(['calling', 'asking', 'compensating', 'pausing', 'deciding', 'waiting'])
      .describe('`waiting`: for the sagas that it runs as a step, for a lock, or for a slot of its project'),
    until: z.string().optional().describe('at the latest'),
    reason: z.string().optional().describe('of a pause or a wait'),
    step: z.string().optional(),
    tool: z.string().optional(),
    attempt: z.int().optional(),
    idempotencyKey: z.string().optional().describe('what the call is known by at the provider'),
    error: namedError().optional().describe('of the attempt before'),
  });

const interactiveTurn = () => z.enum(['next-step', 'step', 'closed', 'parked']);

const childLine = () =>
  z.object({
    path: z.string().describe('steps and branches that lead to it: deploy/dns'),
    sagaId: z.string().describe('the id under which it is answered and repaired'),
    status: z
      .string()
      .describe('status of the saga; STARTING before it exists, REFUSED when another saga has its id'),
    definition: z.string().optional().describe('the template, NAME@VERSION'),
    sealed: z
      .boolean()
      .optional()
      .describe('for a completed saga: false while a saga above may take it back'),
    failure: z.string().optional().describe('name of the error that made it turn back'),
    interactive: interactiveTurn()
      .optional()
      .describe('for a saga that an agent does: next-step when it is the turn of the agent'),
    notListed: z
      .int()
      .optional()
      .describe(
        'how many more effects stand there than notCompensated lists here; the description of that saga has all',
      ),
    acceptedNotListed: z
      .int()
      .optional()
      .describe('how many of these somebody let stand: there is nothing to do for them'),
    residueNotListed: z
      .int()
      .optional()
      .describe(
        'how many more effects left something there than compensated lists here; the description of that saga has all',
      ),
  });

const proof = () =>
  z
    .string()
    .nullable()
    .describe('how the name is proven: issuer and subject of a verified token, or claimed');

/** Absent as long as an answer holds all of them, which are thousands. */
const notListed = (list: string, which = '') =>
  z.int().optional().describe(`how many more there are than ${list} lists${which}; the ledger has all`);

/** The description of a saga for the model and for people (S12). */
export const observation = () =>
  z.object({
    guidance: z
      .object({ text: z.string(), by: z.string(), proof: proof(), at: z.string() })
      .optional()
      .describe('what the saga was told when it was rewound'),
    sagaId: z.string(),
    status,
    epoch: z.int().optional().describe('from the first rewind on: how many there were'),
    rewind: z
      .object({
        requestId: z.string(),
        by: z.string(),
        proof: proof(),
        at: z.string(),
        after: z.string().nullable(),
      })
      .optional()
      .describe('while a rewind is under way: the last step that stays'),
    definition: z.string().optional().describe('the template, NAME@VERSION'),
    requestedBy: z.string(),
    session: z
      .object({ sessionId: z.string(), messageId: z.string().optional() })
      .optional()
      .describe('whose work it is, when the starter said so'),
    project: z.string().optional().describe('given at the start, else that of the session'),
    createdAt: z.string(),
    updatedAt: z.string(),
    doing: doing().optional().describe('absent when it has ended or waits for a person'),
    committed: z.array(observedStep()).describe('took effect and stands'),
    committedNotListed: notListed('committed'),
    compensated: z
      .array(
        z.object({
          ...observedStep().shape,
          residue: z.string().optional().describe('what a partial compensator left'),
          byHand: z.string().optional().describe('what an operator did instead of a compensator'),
          path: z.string().optional().describe('for a saga below this one: where it is'),
          sagaId: z.string().optional().describe('for a saga below this one: which one it is'),
        }),
      )
      .describe('effects that were taken back; of sagas below, only those that left residue'),
    compensatedNotListed: notListed('compensated', ', which has the last ones'),
    notCompensated: z
      .array(
        z.object({
          ...observedStep().shape,
          reason: z.string(),
          children: z
            .boolean()
            .optional()
            .describe('the step runs sagas: what stands there is listed and repaired under their sagaId'),
          accepted: z.boolean().optional().describe('somebody let it stand: there is nothing to do'),
          idempotencyKey: z
            .string()
            .optional()
            .describe('what the call is known by at the provider, also when its answer was lost'),
          resourceKey: z.string().optional().describe('the resource that the call changed'),
          error: namedError().optional().describe('the error of the last compensator that did not work'),
          nextAttempt: z
            .string()
            .optional()
            .describe('when a delayed compensator is called again; absent while it is called'),
          path: z.string().optional().describe('for a saga below this one: where it is'),
          sagaId: z
            .string()
            .optional()
            .describe('for a saga below this one: the id under which it is repaired'),
        }),
      )
      .describe('not taken back'),
    notCompensatedNotListed: notListed('notCompensated'),
    results: z
      .array(
        z.object({
          step: z.string(),
          seq: z.int().describe('the number of the ledger entry that holds it'),
          result: jsonValue.optional().describe('left out when it is large, or when there are many results'),
        }),
      )
      .describe('what tools answered'),
    failed: z
      .object({
        step: z.string().nullable(),
        tool: z.string().nullable(),
        error: namedError(),
        outcome: z.string(),
        by: z.string().optional().describe('who declined or cancelled'),
        proof: proof().optional(),
        reason: z.string().optional().describe('why, in their words'),
      })
      .optional(),
    alert: z
      .object({
        status: z
          .enum(['delivered', 'refused', 'unknown'])
          .describe('refused: it is sent again; unknown: not sent yet, or nobody recorded the answer'),
        at: z.string().optional(),
        refusals: z.int().optional().describe('how often the alert topic refused it'),
        error: namedError().optional().describe('why it refused it the last time'),
      })
      .optional()
      .describe('of a saga that failed: whether the alert topic took the alert for operators'),
    awaiting: awaitedApproval().optional(),
    approvals: z
      .array(
        z.object({
          step: z.string(),
          epoch: z.int().optional().describe('from the first rewind on'),
          decision: z.enum(['approved', 'declined']),
          by: z.string(),
          proof: proof(),
          at: z.string(),
        }),
      )
      .optional()
      .describe('what people approved and declined, oldest first'),
    approvalsNotListed: notListed('approvals', ', which has the last ones'),
    branchesFailed: z
      .int()
      .optional()
      .describe('branches of its steps that failed and were undone, while the step stands'),
    parent: z
      .object({ sagaId: z.string(), root: z.string(), sealed: z.boolean() })
      .optional()
      .describe('the saga that runs this one as a step'),
    children: z
      .array(childLine())
      .optional()
      .describe('the sagas below; what is below a saga that has ended well is not listed'),
    childrenNotListed: z
      .int()
      .optional()
      .describe(
        'how many more sagas there are below than children lists; the ledger of the saga above names each',
      ),
    awaitingBelow: z
      .array(z.object({ ...awaitedApproval().shape, path: z.string(), sagaId: z.string() }))
      .optional()
      .describe('approvals that sagas below wait for, at most 20; each is answered under its own sagaId'),
    awaitingBelowNotListed: z
      .int()
      .optional()
      .describe('how many more approvals sagas below wait for than awaitingBelow lists; list-sagas has all'),
    interactive: z
      .object({
        what: interactiveTurn().describe('waits for a step, works on one, or is over'),
        step: z.string().optional().describe('the step that was submitted last'),
        until: z.string().optional().describe('how long it waits for the next step'),
        asked: z.boolean().optional().describe('no step came in time, and people were asked'),
        onIdle: z.enum(['unwind', 'ask']),
        summary: z.string().optional().describe('the summary of whoever parked it'),
        checkpointId: z.string().optional().describe('where the files were then'),
        input: jsonValue.optional().describe('for a step of a plan: what the plan gives to the agent'),
      })
      .optional()
      .describe('for a saga whose steps are submitted one by one'),
    rejected: z
      .array(z.object({ step: z.string(), tool: z.string(), error: namedError().optional() }))
      .optional()
      .describe('for an interactive saga: the last steps that were refused, so that nothing happened'),
    subject: sagaSubject()
      .optional()
      .describe('with subject: what it is about; absent: it began nothing yet'),
    advice: z.string().describe('for the model; people are told what they can do by command and console'),
  });
export type Observation = z.infer<ReturnType<typeof observation>>;

const stepAnswer = () =>
  z.object({
    stepId: z.string(),
    status: z
      .enum(['committed', 'rejected', 'undone', 'awaiting', 'running', 'failed'])
      .describe(
        'rejected: nothing happened. undone: it may have happened and was taken back. awaiting: a person approves it first. ' +
          'running: not settled yet, submit it again to wait. failed: a person has to look',
      ),
    result: jsonValue.optional(),
    externalRef: z.string().optional(),
    externalUrl: externalUrl(),
    error: namedError().optional(),
  });
export type StepAnswer = z.infer<ReturnType<typeof stepAnswer>>;

export const steppedSaga = () =>
  z.object({
    step: stepAnswer(),
    warnings: z.array(z.string()).describe('what unwinding would leave, and what goes on later'),
    saga: observation().optional(),
  });
export type SteppedSaga = z.infer<ReturnType<typeof steppedSaga>>;

export const calledTool = () =>
  z.object({
    sagaId: z.string().nullable().describe('the saga that stands behind the call; null for a read'),
    step: stepAnswer(),
    warnings: z.array(z.string()),
  });
export type CalledTool = z.infer<ReturnType<typeof calledTool>>;

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

/** What its title is made of. */
export const sagaSubject = () =>
  z.object({
    tool: z.string().describe('the tool of what it moved, else of what it did or asked for first'),
    amount: z.string().optional().describe('what that moved, or would move: an exact decimal'),
    currency: z.string().optional(),
    externalRef: z.string().optional(),
    about: z
      .object({ name: z.string(), value: z.string() })
      .optional()
      .describe('the first argument of its calls that is an id or a reference, as orderId'),
  });
export type SagaSubject = z.infer<ReturnType<typeof sagaSubject>>;

const sagaSummary = () =>
  z.object({
    sagaId: z.string(),
    status,
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
          status,
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

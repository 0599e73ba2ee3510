/** What the model and people see of a saga: where it stands, what it did, and what it waits for. */
import * as z from 'zod';
import { effectFields } from './answer-fields.ts';
import { jsonObject, jsonValue } from './json.ts';

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

export const sagaStatus = z.enum(SAGA_STATUSES);

export const observedStep = () =>
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

export const namedError = () => z.object({ name: z.string(), message: z.string() });

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
    status: sagaStatus,
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

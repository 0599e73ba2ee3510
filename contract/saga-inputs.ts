/**
 * The inputs of the saga functions. They are strict: an unknown field is refused, and the message names it.
 */
import * as z from 'zod';
import { stepDeadlines } from './deadlines.ts';
import { checkpointId, id, project } from './fields.ts';
import { answeredFor, asker, who } from './identity.ts';
import { interactivePolicy } from './interactive.ts';
import { jsonObject, jsonValue } from './json.ts';
import { EFFECT_STATUSES, ENTRY_STATUSES } from './ledger-answers.ts';
import { SAGA_STATUSES } from './saga-observation.ts';
import { dayOrTime, zone } from './zone-fields.ts';

export const stepId = z.string().min(1).max(64);
export const words = z.string().max(2000);
const day = z.iso.date();
/** Of a session. */
const epoch = z.int().min(1).optional();
const limit = z.int().min(1).max(1000);
export const acceptResidue = z
  .boolean()
  .optional()
  .describe(
    'effects that nothing takes back may stay, and a reason says why; without it the answer is PointOfNoReturn',
  );
export const acceptedResidue = z
  .string()
  .min(1)
  .max(64)
  .optional()
  .describe(
    'with acceptResidue: the `residue` of the plan. When other effects would stay by now, the answer is ResidueChanged and nothing is changed',
  );
const cursor = z.string().max(2000).optional().describe('the cursor of the answer before');

export const startSagaInput = () =>
  z.strictObject({
    sagaId: id.optional().describe('the same id again, with the same request, starts nothing new'),
    definition: z
      .strictObject({ name: z.string(), version: z.string().optional() })
      .optional()
      .describe('a template of the catalog; the newest version unless one is named'),
    // Checked by the plan's own rules, which name step and rule.
    plan: jsonValue.optional().describe('instead of a definition: { steps: [...] }'),
    interactive: interactivePolicy()
      .optional()
      .describe('instead of a plan: its steps are submitted one by one, with submit-step'),
    input: jsonValue.optional().describe('what expressions of the plan read; a plan needs it'),
    sessionId: id.optional().describe('the session it belongs to'),
    messageId: id
      .optional()
      .describe(
        'the message of that session whose work it is: a rollback to an earlier one names its effects',
      ),
    epoch: epoch.describe('the epoch of that session, from its last answer; an older one is StaleEpoch'),
    project: project
      .optional()
      .describe('sagas of one project take turns on exclusive resources; default: that of the session'),
    maxConcurrent: z
      .int()
      .min(1)
      .max(1000)
      .optional()
      .describe('sagas of the project that may run at once; a further one is QUEUED and starts in its turn'),
    drive: z
      .enum(['machine', 'inline'])
      .optional()
      .describe(
        'inline: this function makes the calls, and the machine takes over what one call does not settle',
      ),
    requestedBy: who,
  });

const waitSeconds = z.number().min(0).max(600).optional();

export const submitStepInput = () =>
  z.strictObject({
    sagaId: id,
    stepId: id.describe(
      'the id of the step in this saga; the same id again, with the same request, is the same step',
    ),
    tool: z.string().min(1).max(48),
    version: z.string().max(32).optional().describe('the newest unless given'),
    arguments: jsonObject.describe('plain data: nothing in it is an expression'),
    ...stepDeadlines(),
    sessionId: id.optional().describe('the session that submits it'),
    messageId: id.optional().describe('the message that it belongs to'),
    epoch: epoch.describe('the epoch of that session, from its last answer; an older one is StaleEpoch'),
    waitSeconds: waitSeconds.describe(
      'how long to wait for the end of the step; default 60. A tool that may take longer is called by the machine',
    ),
    observe: z.boolean().optional().describe('false: without the observation, which reads the whole ledger'),
  });
export type SubmitStepInput = z.infer<ReturnType<typeof submitStepInput>>;

export const parkSagaInput = () =>
  z
    .strictObject({
      sagaId: id.optional().describe('the saga; without it, all interactive sagas that sessionId works on'),
      summary: words.min(1).describe('for whoever goes on: what is done, and what is left'),
      sessionId: id.optional().describe('the session that stops; a step of another one resumes the saga'),
      checkpointId: checkpointId.optional().describe('where the files are; without it a checkpoint is taken'),
      checkpoint: z.boolean().optional().describe('false: no checkpoint is taken'),
      messageId: id.optional().describe('the message of that checkpoint; default: that of the last one'),
      requestId: id
        .optional()
        .describe(
          'the same id again takes no other checkpoint, and parks nothing that was resumed since; without it, each call takes a checkpoint',
        ),
    })
    .refine(({ sagaId, sessionId }) => sagaId !== undefined || sessionId !== undefined, {
      path: ['sagaId'],
      error: 'give sagaId, or sessionId alone',
    });
export type ParkSagaInput = z.infer<ReturnType<typeof parkSagaInput>>;

export const callToolInput = () =>
  z.strictObject({
    requestId: id.describe('the same id again, with the same call, is the same call'),
    tool: z.string().min(1).max(48),
    version: z.string().max(32).optional().describe('the newest unless given'),
    arguments: jsonObject.describe('plain data: nothing in it is an expression'),
    ...stepDeadlines(),
    allowIrreversible: z.boolean().optional().describe('an irreversible tool needs no approval'),
    sessionId: id.optional(),
    messageId: id.optional().describe('the message that it belongs to'),
    epoch: epoch.describe('the epoch of that session, from its last answer; an older one is StaleEpoch'),
    waitSeconds: waitSeconds.describe(
      'how long to wait for the end of the call; default 60. A tool that may take longer is called by the machine',
    ),
    requestedBy: who,
  });
export type CallToolInput = z.infer<ReturnType<typeof callToolInput>>;

export const closeSagaInput = () =>
  z.strictObject({
    sagaId: id,
    outcome: z.enum(['complete', 'unwind']).describe('all of it stands, or all of it is taken back'),
    reason: words.optional().describe('goes into the ledger'),
    result: jsonValue
      .optional()
      .describe('with complete: what the saga answers, at most 32 KiB; the result of its step in a plan'),
  });
export type CloseSagaInput = z.infer<ReturnType<typeof closeSagaInput>>;

export const describeSagaInput = () =>
  z.strictObject({
    sagaId: id,
    waitSeconds: z.number().min(0).max(600).optional().describe('how long to wait for an end or a question'),
    projection: z
      .enum(['present', 'settled'])
      .optional()
      .describe(
        'settled: the state before the saga or after it, never a state in between; a child that is completed counts when its root is over',
      ),
    subject: z.boolean().optional().describe('also what it is about'),
  });

export const answerInput = () =>
  answeredFor(
    z.strictObject({
      sagaId: id,
      stepId,
      decision: z.enum(['approve', 'reject']),
      epoch: z
        .int()
        .min(0)
        .optional()
        .describe('the epoch of the question (`awaiting.epoch`); needed once the saga was rewound'),
      argumentsHash: z
        .string()
        .regex(/^[0-9a-f]{64}$/)
        .optional()
        .describe(
          'the hash of the arguments that were shown (`awaiting.argumentsHash`); other arguments are not approved',
        ),
      ...asker(),
      note: words.optional(),
    }),
  );
export type AnswerInput = z.infer<ReturnType<typeof answerInput>>;

export const operateSagaInput = () =>
  answeredFor(
    z.strictObject({
      sagaId: id,
      action: z
        .enum(['cancel', 'retry', 'resolve', 'skip', 'undo', 'break-lock', 'resume'])
        .describe('undo is for a saga that is COMPLETED, resume for one that is PARKED'),
      resourceKey: z.string().min(1).max(500).optional().describe('break-lock needs it: the resource'),
      stepId: stepId.optional().describe('resolve and skip need it'),
      epoch: z
        .int()
        .min(0)
        .optional()
        .describe(
          'with stepId: only what the step did in this epoch, 0 before the first rewind; default: in all epochs',
        ),
      ...asker(),
      evidence: words
        .optional()
        .describe('resolve, skip, break-lock and acceptResidue need it: what was done, or why'),
      dryRun: z.boolean().optional().describe('only with undo: answers the plan and changes nothing'),
      acceptResidue,
      residue: acceptedResidue,
      error: z
        .string()
        .min(1)
        .max(100)
        .optional()
        .describe('only with retry, without a step: only what failed with an error of this name'),
    }),
  );
export type OperateSagaInput = z.infer<ReturnType<typeof operateSagaInput>>;

/** What one may ask for: of sagas, of entries and, in their views, of effects. */
export const LEDGER_STATUSES = [...new Set([...SAGA_STATUSES, ...ENTRY_STATUSES, ...EFFECT_STATUSES])];

export const queryLedgerInput = () =>
  z.strictObject({
    sagaId: id.optional(),
    status: z
      .enum(LEDGER_STATUSES)
      .optional()
      .describe(
        'the status of sagas, in capitals, or of entries of these days; with view effects: the status of effects',
      ),
    externalRef: z.string().min(1).max(500).optional(),
    idempotencyKey: z
      .string()
      .min(1)
      .max(200)
      .optional()
      .describe('the calls that were made with this key, as a provider has it: SAGA:STEP'),
    day: day
      .optional()
      .describe('entries of days are only outcomes; with sagaId the starts of calls are answered too'),
    from: dayOrTime()
      .optional()
      .describe('the first day, or a time with its offset; default: six days before the last day'),
    to: dayOrTime()
      .optional()
      .describe('the last day, which is whole, or a time with its offset, which is left out; default today'),
    zone: zone()
      .optional()
      .describe('days are those of this time zone, as Europe/Berlin or +02:00; default UTC'),
    asOf: dayOrTime()
      .optional()
      .describe(
        'for effects and totals: as they stood at the end of this day, or at this time; later entries are not read',
      ),
    undoneFrom: dayOrTime()
      .optional()
      .describe(
        'for effects and totals: only what was undone from this day on, also by hand, by the day of its undo; from, to and day then choose among these by the day of the effect',
      ),
    undoneTo: dayOrTime().optional().describe('the last such day; default today'),
    view: z
      .enum(['entries', 'effects', 'totals'])
      .optional()
      .describe('effects: each effect and its undo in one row; totals: their sums; default entries'),
    tool: z.string().min(1).max(100).optional().describe('for effects and totals: only this tool'),
    agent: z.string().min(1).max(200).optional().describe('for effects and totals: who started the saga'),
    reference: z
      .string()
      .min(1)
      .max(500)
      .optional()
      .describe('for effects and totals: a resource key or a reference, such as that of a customer'),
    doubt: z
      .boolean()
      .optional()
      .describe(
        'for effects and totals: true: only those of which nobody knows whether they happened, whatever became of them; false: only the others',
      ),
    format: z.enum(['json', 'csv']).optional(),
    evidence: z
      .boolean()
      .optional()
      .describe('with sagaId or day: also what is stored beside the entries, for verifying'),
    anchorsOf: day.optional().describe('the digests of this day, instead of entries'),
    limit: limit.optional().describe('default 200'),
    cursor,
  });
export type QueryLedgerInput = z.infer<ReturnType<typeof queryLedgerInput>>;

export const putCatalogInput = () =>
  z.strictObject({
    tools: z.array(jsonValue).max(100),
    definitions: z.array(jsonValue).max(100),
  });

export const listSagasInput = () =>
  z
    .strictObject({
      status: z
        .enum(SAGA_STATUSES)
        .optional()
        .describe(
          'without it: all sagas, those that need a person first, also across pages; a saga that changes its status between two pages comes again at the end',
        ),
      sessionId: id
        .optional()
        .describe('only those that this session started or took a step of, with their effects, oldest first'),
      messageId: id.optional().describe('with sessionId: only those that did something for this message'),
      requestedBy: z
        .string()
        .min(1)
        .max(200)
        .optional()
        .describe('only those that this agent or person started'),
      subject: z.boolean().optional().describe('also what each is about, which reads the ledger of each'),
      limit: limit.optional().describe('default 50'),
      cursor,
    })
    .refine(({ messageId, sessionId }) => messageId === undefined || sessionId !== undefined, {
      path: ['messageId'],
      error: 'give it beside sessionId',
    });
export type ListSagasInput = z.infer<ReturnType<typeof listSagasInput>>;

export const listLocksInput = () =>
  z.strictObject({
    sagaId: id.optional().describe('only the locks of this saga; without it: those of all open sagas'),
    limit: limit.optional().describe('at most 500, which is also the default'),
    cursor,
  });
export type ListLocksInput = z.infer<ReturnType<typeof listLocksInput>>;

export const listCatalogInput = () => z.strictObject({});

/** What a rewind takes and answers (docs/sagas.md, Rewind). */
import * as z from 'zod';
import { checkpointId, decidedEpoch, id } from './fields.ts';
import { answeredFor, asker } from './identity.ts';
import { jsonValue } from './json.ts';
import { REWIND_SCOPES } from './rewind-scopes.ts';
import { rollbackAnswer } from './rollback-answers.ts';
import { plannedResidue, toldWarnings, undoPlan } from './saga-answers.ts';
import { acceptedResidue, acceptResidue, stepId, words } from './saga-inputs.ts';
import { observation, SAGA_STATUSES, sagaSubject } from './saga-observation.ts';

const STEP_TARGET = '{ stepId } or { steps } for a saga';
const POINT_TARGET = '{ messageId } or { checkpointId } for a session';
const stepTarget = () => [
  z.strictObject({ stepId: stepId.describe('the last step that stays') }),
  z.strictObject({ steps: z.int().min(1).max(1000).describe('so many of the last steps are taken back') }),
];
const pointTarget = () => [
  z.strictObject({
    messageId: id.describe('its work stays'),
    checkpointId: checkpointId
      .optional()
      .describe('of the plan: this checkpoint of it, also when it has another last one by now'),
  }),
  z.strictObject({ checkpointId }),
];
export type StepTarget = { stepId: string } | { steps: number };
type PointTarget = { messageId: string; checkpointId?: string | undefined } | { checkpointId: string };

const fields = () =>
  answeredFor(
    z.strictObject({
      sagaId: id.optional().describe('this saga goes back to a step, and goes on from there'),
      sessionId: id
        .optional()
        .describe('this session goes back to a message or checkpoint, and its sagas since are undone'),
      to: z
        .union([...stepTarget(), ...pointTarget()], { error: `give ${STEP_TARGET}, ${POINT_TARGET}` })
        .describe(`${STEP_TARGET}, ${POINT_TARGET}`),
      scope: z
        .enum(REWIND_SCOPES)
        .optional()
        .describe('what goes back; default all; of a saga that is its effects'),
      guidance: z
        .string()
        .trim()
        .min(1)
        .max(4000)
        .optional()
        .describe(
          'for the next steps: a saga has it first in its observation, and for the agent of a session it comes back with the answer',
        ),
      planned: z
        .strictObject({ epoch: z.int().min(0), after: stepId.nullable() })
        .optional()
        .describe(
          'of a saga: its `epoch` and `after` in the plan; when it was rewound since, or `to` leads to another step by now, the answer is OperationConflict, and nothing is changed',
        ),
      plan: jsonValue
        .optional()
        .describe('of a saga: { steps: [...] } to go on with, instead of its remaining steps'),
      epoch: decidedEpoch(),
      acceptResidue,
      residue: acceptedResidue,
      reason: words
        .optional()
        .describe('acceptResidue needs it: why these effects may stay; goes into the ledger'),
      dryRun: z.boolean().optional().describe('answers the plan and changes nothing'),
      requestId: id.describe('the same id again, with the same request, is the same rewind'),
      ...asker(),
      waitSeconds: z
        .number()
        .min(0)
        .max(600)
        .optional()
        .describe('how long to wait until the effects are undone; default 0'),
    }),
  );
type Written = z.input<ReturnType<typeof fields>>;
type Fields = z.output<ReturnType<typeof fields>>;

type OfSaga<Given> = Omit<Given, 'sagaId' | 'sessionId' | 'to' | 'epoch'> & {
  sagaId: string;
  sessionId?: never;
  to: StepTarget;
};
type OfSession<Given> = Omit<Given, 'sagaId' | 'sessionId' | 'to' | 'planned' | 'plan'> & {
  sagaId?: never;
  sessionId: string;
  to: PointTarget;
};

/** One saga goes back to a step, and goes on from there. */
export type SagaRewind = OfSaga<Fields>;
/** A session goes back to a message or checkpoint, and its sagas since are undone. */
export type SessionRewind = OfSession<Fields>;
/** As a caller writes it. */
export type RewindRequest = { saga: OfSaga<Written>; session: OfSession<Written> };

/** Tells which of the two is asked for, and refuses what belongs to the other. */
const sagaOrSession = (given: Fields, refinement: z.RefinementCtx): SagaRewind | SessionRewind => {
  const { sagaId, sessionId, to, planned, plan, epoch, ...rest } = given;
  const refuse = (field: keyof Fields, message: string): never => {
    refinement.addIssue({ code: 'custom', path: [field], message });
    return z.NEVER;
  };
  if (sagaId !== undefined && sessionId === undefined) {
    if (!('stepId' in to || 'steps' in to)) return refuse('to', `give ${STEP_TARGET}`);
    if (epoch !== undefined) return refuse('epoch', 'it is of a session; of a saga give planned');
    if (rest.scope === 'conversation') return refuse('scope', 'a saga has no conversation');
    return { sagaId, to, planned, plan, ...rest };
  }
  if (sessionId === undefined || sagaId !== undefined)
    return refuse('sagaId', 'give sagaId or sessionId, one of the two');
  if ('stepId' in to || 'steps' in to) return refuse('to', `give ${POINT_TARGET}`);
  if (planned !== undefined) return refuse('planned', 'it is of a saga; of a session give epoch');
  if (plan !== undefined) return refuse('plan', 'it is of a saga; a session goes on with none');
  return { sessionId, to, epoch, ...rest };
};

export const rewindInput = () => fields().transform(sagaOrSession);

/**
 * `STOPPED`: a compensator failed, and files are untouched. An operator's retry, resolve or skip goes on with
 * the rewind; of a session, the same request does after it. A session's also stops before a saga that did
 * meanwhile what nothing takes back.
 * `CANCELLED`: a cancel came after it, and everything is undone.
 */
const REWIND_STATUSES = ['PLANNED', 'UNDOING', 'STOPPED', 'REWOUND', 'CANCELLED'] as const;

const rewoundSaga = () =>
  z.object({
    sagaId: z.string(),
    status: z.enum(SAGA_STATUSES),
    epoch: z.int().describe('it rises when the effects are undone'),
    after: z.string().nullable().describe('the last step that stays; null: none does'),
    definition: z.string().optional().describe('its template, in the rewind of a session'),
    subject: sagaSubject().optional().describe('what it is about, in the rewind of a session'),
    plan: undoPlan().describe('what is left to take back'),
    observation: observation()
      .optional()
      .describe(
        'once the saga is rewound; in the rewind of a session, ask describe-saga for that of each saga',
      ),
  });
export type RewoundSaga = z.infer<ReturnType<typeof rewoundSaga>>;

export const rewindAnswer = () =>
  z.object({
    requestId: z.string(),
    status: z.enum(REWIND_STATUSES),
    guidance: z.string().optional(),
    residue: plannedResidue(),
    epoch: z
      .int()
      .optional()
      .describe(
        'in the plan of a session: its epoch, to give to the rewind itself. When the rewind has just begun: the epoch in which it was decided',
      ),
    checkpointId: z
      .string()
      .optional()
      .describe('of a session, the target; of a message, its last checkpoint when this was planned or begun'),
    sagas: z
      .array(rewoundSaga())
      .describe('the saga; of a session, those that came after the target, the last one first'),
    sagasNotListed: z
      .object({ sagas: z.int(), undo: z.int(), stands: z.int() })
      .optional()
      .describe(
        'how many more sagas there are, for which the answer has no room, and how much their plans list',
      ),
    files: rollbackAnswer()
      .optional()
      .describe('the rollback of the files, planned or done; absent until then'),
    trimAfterMessageId: z.string().nullable().optional().describe('cut the conversation after this message'),
    warnings: toldWarnings(),
  });
export type RewindAnswer = z.infer<ReturnType<typeof rewindAnswer>>;

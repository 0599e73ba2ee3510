/** What a rewind takes and answers (docs/sagas.md, Rewind). */
import * as z from 'zod';
import { checkpointId, decidedEpoch, id } from './fields.ts';
import { answeredFor, asker } from './identity.ts';
import { jsonValue } from './json.ts';
import { rollbackAnswer } from './rollback-answers.ts';
import {
  observation,
  plannedResidue,
  SAGA_STATUSES,
  sagaSubject,
  toldWarnings,
  undoPlan,
} from './saga-answers.ts';
import { acceptedResidue, acceptResidue, stepId, words } from './saga-inputs.ts';

const STEP_TARGET = '{ stepId } or { steps }';
const stepTarget = z.union(
  [
    z.strictObject({ stepId: stepId.describe('the last step that stays') }),
    z.strictObject({ steps: z.int().min(1).max(1000).describe('so many of the last steps are taken back') }),
  ],
  { error: `give ${STEP_TARGET}` },
);
export type StepTarget = z.output<typeof stepTarget>;

const guidance = z.string().trim().min(1).max(4000).optional();
const common = () => ({
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
});

/** One saga goes back to a step, and goes on from there. */
export const rewindInput = () =>
  answeredFor(
    z.strictObject({
      sagaId: id,
      to: stepTarget.describe(STEP_TARGET),
      planned: z
        .strictObject({ epoch: z.int().min(0), after: stepId.nullable() })
        .optional()
        .describe(
          '`epoch` and `after` of the saga in the plan: when it was rewound since, or `to` leads to another step by now, the answer is OperationConflict, and nothing is changed',
        ),
      guidance: guidance.describe(
        'what the saga is told for its next steps; it comes first in the observation',
      ),
      plan: jsonValue
        .optional()
        .describe('{ steps: [...] } to go on with, instead of the remaining steps of the saga'),
      ...common(),
    }),
  );
export type SagaRewind = z.output<ReturnType<typeof rewindInput>>;

const SESSION_TARGET = '{ messageId } or { checkpointId }';

/** A session goes back to a message or checkpoint, and its sagas since are undone. */
export const rewindSessionInput = () =>
  answeredFor(
    z.strictObject({
      sessionId: id,
      to: z
        .union(
          [
            z.strictObject({
              messageId: id.describe('its work stays'),
              checkpointId: checkpointId
                .optional()
                .describe('of the plan: this checkpoint of it, also when it has another last one by now'),
            }),
            z.strictObject({ checkpointId }),
          ],
          { error: `give ${SESSION_TARGET}` },
        )
        .describe(SESSION_TARGET),
      scope: z
        .enum(['all', 'effects', 'conversation'])
        .optional()
        .describe('what goes back; default all; for the files alone there is a rollback'),
      guidance: guidance.describe('what the agent is told for its next steps; it comes back with the answer'),
      epoch: decidedEpoch(),
      ...common(),
    }),
  );
export type SessionRewind = z.output<ReturnType<typeof rewindSessionInput>>;

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

const rewound = () => ({
  requestId: z.string(),
  status: z.enum(REWIND_STATUSES),
  guidance: z.string().optional(),
  residue: plannedResidue(),
});

export const rewindAnswer = () => z.object({ ...rewound(), saga: rewoundSaga(), warnings: toldWarnings() });
export type RewindAnswer = z.infer<ReturnType<typeof rewindAnswer>>;

export const rewindSessionAnswer = () =>
  z.object({
    ...rewound(),
    epoch: z
      .int()
      .optional()
      .describe(
        'in a plan: the epoch of the session, to give to the rewind itself. When the rewind has just begun: the epoch in which it was decided',
      ),
    checkpointId: z
      .string()
      .optional()
      .describe('the target; of a message, its last checkpoint when this was planned or begun'),
    sagas: z.array(rewoundSaga()).describe('those that came after the target, the last one first'),
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
  });
export type RewindSessionAnswer = z.infer<ReturnType<typeof rewindSessionAnswer>>;

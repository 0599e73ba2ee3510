/** What a rewind takes and answers (docs/sagas.md, Rewind). */
import * as z from 'zod';
import { id } from './fields.ts';
import { jsonValue } from './json.ts';
import { observation, SAGA_STATUSES, undoPlan } from './saga-answers.ts';
import { acceptResidue, stepId, who } from './saga-inputs.ts';

export const rewindInput = () =>
  z.strictObject({
    sagaId: id,
    to: z
      .union([
        z.strictObject({ stepId: stepId.describe('the last step that stays') }),
        z.strictObject({
          steps: z.int().min(1).max(1000).describe('so many of the last steps are taken back'),
        }),
      ])
      .describe('{ stepId } or { steps }'),
    scope: z.enum(['effects']).optional().describe('what goes back; default effects'),
    guidance: z
      .string()
      .trim()
      .min(1)
      .max(4000)
      .optional()
      .describe('what the saga is told for the way on; first in its observation'),
    plan: jsonValue
      .optional()
      .describe('{ steps: [...] } to go on with, instead of the steps that the saga has from there on'),
    acceptResidue,
    dryRun: z.boolean().optional().describe('answers the plan and changes nothing'),
    requestId: id.describe('the same id again, with the same request, is the same rewind'),
    by: who,
    waitSeconds: z
      .number()
      .min(0)
      .max(600)
      .optional()
      .describe('waits so long for the effects to be undone; default 0'),
  });
export type RewindInput = z.output<ReturnType<typeof rewindInput>>;

/**
 * `STOPPED`: a compensator failed, and an operator's retry, resolve or skip goes on with the rewind.
 * `CANCELLED`: a cancel came after it, and everything is undone.
 */
const REWIND_STATUSES = ['PLANNED', 'UNDOING', 'STOPPED', 'REWOUND', 'CANCELLED'] as const;

const rewoundSaga = () =>
  z.object({
    sagaId: z.string(),
    status: z.enum(SAGA_STATUSES),
    epoch: z.int().describe('it rises when the effects are undone'),
    after: z.string().nullable().describe('the last step that stays; null: none'),
    plan: undoPlan().describe('what is left to take back'),
    observation: observation().optional().describe('once it is rewound'),
  });
export type RewoundSaga = z.infer<ReturnType<typeof rewoundSaga>>;

export const rewindAnswer = () =>
  z.object({
    requestId: z.string(),
    status: z.enum(REWIND_STATUSES),
    sagas: z.array(rewoundSaga()),
    guidance: z.string().optional(),
  });
export type RewindAnswer = z.infer<ReturnType<typeof rewindAnswer>>;

/**
 * The answers of the functions that move sagas. Answers are extended, never changed: a caller ignores fields that it
 * does not know.
 */
import * as z from 'zod';
import { externalUrl } from './answer-fields.ts';
import { personAnswer } from './identity.ts';
import { jsonValue } from './json.ts';
import { namedError, observation, observedStep, sagaStatus } from './saga-observation.ts';

const movedSaga = () => z.object({ sagaId: z.string(), status: sagaStatus });

const parkedSaga = () =>
  z.object({
    ...movedSaga().shape,
    error: namedError().optional().describe('why it is not parked'),
  });
export type ParkedSaga = z.infer<ReturnType<typeof parkedSaga>>;

export const parkedSagas = () =>
  z.object({
    sagaId: z.string().optional().describe('the one that was named'),
    status: sagaStatus.optional(),
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
    status: sagaStatus,
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

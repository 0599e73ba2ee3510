/** The answers of rollback, revert and merge: what was written, what was not, and what stands. */
import * as z from 'zod';
import { count, effectFields, lateWrites, pointOf, settledHere } from './answer-fields.ts';
import { hostChange } from './change-answers.ts';
import { askedBy } from './identity.ts';

/** An effect of a saga that no rollback takes back. */
export const standingEffect = () =>
  z.object({
    sagaId: z.string(),
    status: z.string().describe("the saga's"),
    messageId: z
      .string()
      .nullable()
      .describe('the message whose work the saga is; null: not given when the saga was started'),
    ...effectFields(),
    reversible: z.boolean().describe('false when nothing takes it back'),
  });
export type StandingEffect = z.infer<ReturnType<typeof standingEffect>>;

/** A path that both sides changed in ways that do not go together. */
export const CONFLICT_KINDS = [
  'content',
  'modify/delete',
  'binary',
  'mode',
  'symlink',
  'file/directory',
  'rename',
  'repository',
  'markers',
] as const;

const conflict = () =>
  z.object({
    repository: z.string(),
    path: z.string().describe('in the repository; "." for the repository itself'),
    kind: z.enum(CONFLICT_KINDS),
    message: z.string(),
  });
export type Conflict = z.infer<ReturnType<typeof conflict>>;

export const rollbackAnswer = () =>
  z.object({
    status: z.enum(['APPLIED', 'PLANNED']),
    checkpointId: z
      .string()
      .describe(
        'where the session stands afterwards; in the plan of a state that is not made yet: where it stands now',
      ),
    pathsFrom: z
      .string()
      .optional()
      .describe('with paths: the checkpoint that these paths are taken from; all else stays as it is'),
    epoch: z
      .int()
      .describe('the epoch for the next checkpoint; in a plan: the epoch to give to the rollback itself'),
    undoCheckpointId: z.string().nullable().describe('roll back to it to undo the rollback'),
    repositories: z.array(
      z.object({
        path: z.string(),
        written: count.describe('files; 0 where the action is created: there, every file is new'),
        deleted: count,
        action: z.enum(['unchanged', 'restored', 'created', 'parked']),
        host: hostChange().optional().describe('what changes beside files; absent when nothing does'),
        paths: z
          .array(z.object({ path: z.string(), change: z.enum(['write', 'delete']) }))
          .optional()
          .describe('dryRun only: the first paths of the plan'),
      }),
    ),
    discardedMessageIds: z.array(z.string()),
    trimAfterMessageId: z.string().nullable().describe('cut the conversation after this message'),
    effects: z
      .array(standingEffect())
      .optional()
      .describe('effects of sagas that came after the target, and stand: files go back, effects do not'),
    conflicts: z
      .array(conflict())
      .optional()
      .describe(
        'what both sides changed; in a plan: nothing would be written; after a merge with markers: they are between markers in the files',
      ),
    warnings: z.array(z.string()),
    lateWrites: lateWrites()
      .optional()
      .describe(
        'another process wrote files meanwhile that the rollback replaced or deleted: a checkpoint has them',
      ),
    settledRollback: settledHere(),
    by: askedBy().optional().describe('who asked for it; absent: a backend, which names nobody'),
  });
export type RollbackAnswer = z.infer<ReturnType<typeof rollbackAnswer>>;

export const mergeAnswer = () =>
  z.object({
    ...rollbackAnswer().shape,
    status: z
      .enum(['APPLIED', 'PLANNED', 'NOTHING'])
      .describe('NOTHING: all work of `from` is there already, or nothing changed in it'),
    from: pointOf().describe('the checkpoint whose work was merged'),
    base: pointOf().describe('the last checkpoint that both sides have'),
  });
export type MergeAnswer = z.infer<ReturnType<typeof mergeAnswer>>;

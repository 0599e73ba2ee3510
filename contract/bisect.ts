/** The search for the message that broke something: what it takes and answers. */
import * as z from 'zod';
import { count } from './answer-fields.ts';
import { calledTool } from './change-answers.ts';
import { checkpointId, id, joinedRequestId, relativePath, shellText, template } from './fields.ts';

const point = z
  .union([z.literal('head'), checkpointId, id], { error: 'give a message id, a checkpoint id or head' })
  .optional();

export const bisectSessionInput = () =>
  z.strictObject({
    sessionId: id,
    command: shellText(8192).describe(
      'bash, run as the commands of an agent are; exit code 0: good; 125: this checkpoint cannot be judged; any other: bad',
    ),
    good: point.describe(
      'a message id, a checkpoint id or head where the command succeeds; default: where the conversation began, for a fork also before it was forked',
    ),
    bad: point.describe(
      'a message id, a checkpoint id or head where it fails; default: the checkpoint that the session stands on',
    ),
    repository: relativePath(1024)
      .optional()
      .describe(
        'the repository that the command runs in, relative to the projects root; checkpoints without it are not tried; default: the projects root',
      ),
    timeoutSeconds: z
      .int()
      .min(1)
      .max(600)
      .default(300)
      .describe('of the command at one checkpoint; one that takes longer counts as bad'),
    template: template.optional().describe('of the copies; default: that of the session'),
    allowPartial: z.boolean().optional().describe('also tries checkpoints that are not complete'),
    requestId: joinedRequestId.describe(
      'the same id goes on with the same search, or gets its answer again; what was tried is not tried again',
    ),
  });
export type BisectSessionInput = z.output<ReturnType<typeof bisectSessionInput>>;

const verdict = () =>
  z.enum(['good', 'bad', 'skipped']).describe('skipped: exit code 125, or no copy of it can be made');

const tried = () =>
  z.object({
    sessionId: z.string(),
    checkpointId: z.string(),
    verdict: verdict(),
    exitCode: z.int().nullable().describe('null when the command did not end by itself, or was not run'),
    milliseconds: count,
    note: z.string().optional().describe('why it was ended, or skipped without an exit code'),
  });
export type TriedCheckpoint = z.infer<ReturnType<typeof tried>>;

const triedWithOutput = () =>
  tried().safeExtend({
    output: z.string().describe('stdout and stderr; of a long output, the beginning and the end'),
    isCut: z.boolean().describe('the middle of the output is missing'),
  });

const suspect = () =>
  z.object({
    sessionId: z.string().describe('the session that it is a checkpoint of; for work of a fork, the fork'),
    checkpointId: z.string().describe('walkback-changes answers its diff'),
    previousCheckpointId: z.string().describe('what is compared with it'),
    previousSessionId: z.string().describe('differs from sessionId only for the first checkpoint of a fork'),
    messageId: z.string().nullable().describe('whose work it is; null: of no message'),
    title: z.string().optional(),
    role: z.string().optional(),
    madeBy: calledTool().optional().describe('the tool call that made it; absent: not known'),
    reason: z.string(),
    createdAt: z.string(),
  });
export type Suspect = z.infer<ReturnType<typeof suspect>>;

export const bisectSessionAnswer = () =>
  z.object({
    sessionId: z.string(),
    requestId: z.string(),
    outcome: z
      .enum(['found', 'candidates'])
      .describe('candidates: it is one of several, because those between them were skipped'),
    suspects: z.array(suspect()).describe('what broke it: one when found, else the candidates, oldest first'),
    suspectsNotListed: count.optional().describe('how many more candidates there are'),
    through: z
      .array(suspect())
      .describe('the merges that brought it into the session, the last one first; mostly none'),
    good: triedWithOutput().describe('the last good checkpoint that was tried'),
    bad: triedWithOutput().describe('the first bad checkpoint that was tried'),
    tried: z.array(tried()).describe('every checkpoint that was tried, in that order'),
    checkpoints: count.describe('how many checkpoints were between the good and the bad point, both counted'),
    note: z.string().optional().describe('what else there is to know about the answer'),
  });
export type BisectSessionAnswer = z.infer<ReturnType<typeof bisectSessionAnswer>>;

/** How far a search is, for people who wait. */
export const searchProgress = () =>
  z.object({
    tried: z.array(triedWithOutput().partial({ output: true, isCut: true })),
    trying: count.describe('copies that the command runs in now'),
    left: count.describe('checkpoints that the fault may still be in'),
    at: z.string().describe('when this was told'),
  });
export type SearchProgress = z.infer<ReturnType<typeof searchProgress>>;

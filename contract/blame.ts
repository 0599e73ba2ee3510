/** Who wrote each line of a file: what the function takes and answers. */
import * as z from 'zod';
import { count } from './answer-fields.ts';
import { calledTool } from './change-answers.ts';
import { checkpointId, id, joinedRequestId, relativePath, sandboxId } from './fields.ts';

/** Most lines of one answer. */
export const MOST_BLAMED_LINES = 2_000;

const lineNumber = z.int().min(1).max(100_000_000);

export const blameInput = () =>
  z.strictObject({
    sessionId: id,
    path: relativePath(4096).describe(
      'a file, relative to the projects root; with repository, relative to that; a path that no repository is at the beginning of is looked for in each',
    ),
    repository: relativePath(1024)
      .optional()
      .describe('the repository that path is in, relative to the projects root'),
    at: z
      .union([z.literal(['head', 'now']), checkpointId, id], {
        error: 'give a message id, a checkpoint id, head or now',
      })
      .optional()
      .describe(
        'a message id, a checkpoint id, head or now; default: now, and for a session that has ended the head',
      ),
    lines: z
      .strictObject({ from: lineNumber, to: lineNumber.optional() })
      .refine(({ from, to }) => to === undefined || to >= from, { path: ['to'], error: 'is before from' })
      .optional()
      .describe('only these lines, the last one too; default: all'),
    sandboxId: sandboxId.optional().describe('where to look: a review copy'),
    requestId: joinedRequestId,
  });
export type BlameInput = z.output<ReturnType<typeof blameInput>>;

const asNamed = { path: z.string().optional().describe('of the file there, where it had another name') };

const work = {
  messageId: z.string().nullable().describe('whose work it is; null: of no message'),
  title: z.string().optional(),
  role: z.string().optional(),
  madeBy: calledTool().optional().describe('the tool call that made it; absent: not known'),
};

const origin = () =>
  z.discriminatedUnion('kind', [
    z
      .object({
        kind: z.literal('checkpoint'),
        sessionId: z
          .string()
          .describe('the session that it is a checkpoint of; for work of a fork, the fork'),
        checkpointId: z
          .string()
          .describe('the first one that has the line; walkback-changes answers its diff'),
        previousCheckpointId: z
          .string()
          .nullable()
          .describe('the checkpoint before it in this session; null: there is none, or it has expired'),
        ...work,
        reason: z.string(),
        createdAt: z.string(),
        ...asNamed,
      })
      .describe('it came with a checkpoint'),
    z
      .object({ kind: z.literal('now'), ...work, ...asNamed })
      .describe('no checkpoint has it yet: it came since the head'),
    z
      .object({
        kind: z.literal('commit'),
        commit: z.string(),
        author: z.string().describe('as git has it'),
        authoredAt: z.string(),
        summary: z.string().describe('the first line of its message'),
        ...asNamed,
      })
      .describe('a commit that was there before the session, or before its oldest checkpoint that is kept'),
    z
      .object({
        kind: z.literal('before'),
        sessionId: z.string(),
        checkpointId: z.string().describe('the oldest checkpoint; it has the line already'),
        why: z
          .enum(['uncommitted', 'unknown'])
          .describe(
            'uncommitted: it was in no commit then; unknown: the commits from before cannot be read any more',
          ),
        isSessionStart: z
          .boolean()
          .describe('false: earlier checkpoints have expired, and may be where it came from'),
        createdAt: z.string(),
        ...asNamed,
      })
      .describe('the oldest checkpoint has it already'),
  ]);
export type BlameOrigin = z.infer<ReturnType<typeof origin>>;

export const blameAnswer = () =>
  z.object({
    sessionId: z.string(),
    repository: z.string(),
    path: z.string().describe('in the repository'),
    at: z
      .object({
        checkpointId: z.string().describe('for now: the head'),
        isNow: z.boolean().describe('the file as it is now, also with what came since that checkpoint'),
      })
      .describe('what the lines are those of'),
    totalLines: count.describe('of the whole file'),
    origins: z.array(origin()).describe('where lines came from, each once, in the order of the lines'),
    lines: z.array(
      z.object({
        line: z.int(),
        text: z.string().describe('without its end; bytes that are not UTF-8 are U+FFFD'),
        isCut: z.literal(true).optional().describe('the text is longer'),
        origin: z.int().min(0).describe('its place in origins'),
        lineThere: z.int().describe('its number where it came from'),
      }),
    ),
    nextLine: z.int().optional().describe('the answer was full: give it as lines.from to go on'),
    warnings: z.array(z.string()),
  });
export type BlameAnswer = z.infer<ReturnType<typeof blameAnswer>>;

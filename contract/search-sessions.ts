/** Finds words in what was said, run and changed: what the function takes and answers. */
import * as z from 'zod';
import { count, cursor } from './answer-fields.ts';
import { id } from './fields.ts';

/** Most characters of what is searched for. */
export const MOST_SEARCHED = 200;
/** Most messages, and most calls, of one answer. */
export const MOST_FOUND = 200;

export const searchSessionsInput = () =>
  z.strictObject({
    words: z
      .string()
      .max(MOST_SEARCHED)
      .refine((text) => text.trim() !== '', 'give a word')
      .describe(
        'each has to be in the same message, or in the same call with its files, in any order and case, also as a part of a longer word',
      ),
    sessionId: id.optional().describe('only this session, all of it'),
    cursor: z.string().max(1024).optional().describe('the cursor of the answer before, to look further back'),
    limit: z.int().min(1).max(MOST_FOUND).optional().describe('of messages, and of calls; default: 50'),
  });
export type SearchSessionsInput = z.output<ReturnType<typeof searchSessionsInput>>;

const place = {
  sessionId: z.string(),
  messageId: z.string(),
  title: z.string().optional().describe('of the message'),
  at: z.string().describe('when the checkpoint was taken that tells of it'),
};

const foundMessage = () =>
  z.object({
    ...place,
    role: z.string().optional(),
    excerpt: z.string().optional().describe('of its text, where the title does not have all words'),
  });

const foundCall = () =>
  z.object({
    ...place,
    checkpointId: z.string().describe('holds what the call changed; when it did not end yet, the one before'),
    tool: z.string().optional(),
    input: z.string().optional().describe('its beginning'),
    paths: z
      .array(z.string())
      .describe('changed files that fit, at most 10; the first part is the repository'),
    morePaths: count.describe('that fit and are not listed'),
  });

export const searchSessionsAnswer = () =>
  z.object({
    messages: z.array(foundMessage()).describe('newest first; rollbacks may have discarded some'),
    moreMessages: count.describe('that were found and are not listed'),
    calls: z.array(foundCall()).describe('newest first, by what was run or which files changed'),
    moreCalls: count.describe('that were found and are not listed'),
    looked: z.object({
      checkpoints: count.describe('whose words were looked through'),
      cut: count.describe('of these, whose words are kept only in part'),
      sessions: count.describe('that these are of'),
    }),
    lookedBackTo: z
      .string()
      .optional()
      .describe('what was kept at this time or earlier was not looked at; absent: everything was'),
    cursor,
  });
export type SearchSessionsAnswer = z.output<ReturnType<typeof searchSessionsAnswer>>;

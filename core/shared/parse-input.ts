import type * as z from 'zod';
import { clip } from './clip.ts';
import { WalkbackError } from './errors.ts';
import { wellFormed } from './well-formed.ts';

const MOST_NAMED = 10;
/** Longer than any field name or path of ours. A caller may send megabytes. */
const MOST_OF_A_NAME = 200;

const describeIssue = (issue: z.core.$ZodIssue): string => {
  const where = clip(issue.path.join('.'), MOST_OF_A_NAME) || 'input';
  if (issue.code !== 'unrecognized_keys') return `${where}: ${issue.message}`;
  const named = issue.keys.slice(0, MOST_NAMED).map((key) => `"${clip(key, MOST_OF_A_NAME)}"`);
  const more = issue.keys.length > named.length ? ` and ${issue.keys.length - named.length} more` : '';
  return `${where}: unknown field ${named.join(', ')}${more}`;
};

/**
 * Parses a caller's input, with U+FFFD in place of half characters. Throws `InvalidInput`, which names every
 * wrong field but never its value.
 */
export const parseInput = <T>(schema: z.ZodType<T>, input: unknown): T => {
  const parsed = schema.safeParse(wellFormed(input));
  if (parsed.success) return parsed.data;
  const issues = parsed.error.issues.slice(0, MOST_NAMED).map(describeIssue);
  throw new WalkbackError('InvalidInput', `The input is not valid. ${issues.join('; ')}.`, {
    details: { fields: parsed.error.issues.map((issue) => issue.path.join('.')) },
  });
};
